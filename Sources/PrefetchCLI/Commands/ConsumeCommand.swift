import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

struct ConsumeCommand: Command {
  let context: CommandContext
  let options: ConsumeOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, locations) = try context.configurationAndLocations(allowsUnsetSecrets: true)
    let recording = EventRecording(context: context, loaded: loaded, locations: locations)
    let event = try recording.consume(
      EventRecording.Consumption(
        item: options.item,
        start: options.start,
        end: options.end,
        length: options.length,
        time: options.time
      )
    )
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-event/1", "action": "consume", "event": event.document,
      ])
    }
    return ExitStatus.ok.code
  }
}

enum StreamLength {
  /// Returns nil if the item is neither an ad nor a stream.
  static func of(_ item: ContentRecord, in bodies: BodyPaths) -> Duration? {
    if let seconds = item.seconds, seconds > 0 {
      return .milliseconds(Int64((seconds * 1000).rounded()))
    }
    guard !item.files.isEmpty, item.mime?.contains("mpegurl") == true else { return nil }
    let playlists = item.files.filter { $0.role == .playlist && !$0.isReserved }
    // The item's own body is its first playlist, and may be the only one.
    return (playlists.map(\.digest) + [item.digest].compactMap(\.self)).compactMap { digest in
      guard let bytes = try? FileReading.read(bodies.path(of: digest), limit: largest) else {
        return nil
      }
      return length(of: String(decoding: bytes, as: UTF8.self))
    }
    .max()
  }

  private static let largest = 16 << 20

  /// Sums the segment lengths of a playlist; nil for a master playlist, which has none.
  private static func length(of playlist: String) -> Duration? {
    let mark = "#EXTINF:"
    let pieces = playlist.split(separator: "\n").filter { $0.hasPrefix(mark) }.compactMap {
      Double($0.dropFirst(mark.count).prefix { $0 != "," })
    }
    let seconds = pieces.reduce(0, +)
    return seconds > 0 && seconds < 1e9 ? .milliseconds(Int64(seconds * 1000)) : nil
  }
}
