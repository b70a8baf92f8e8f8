import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchSystem

/// `event consume`: that a person has seen an item, or a part of it.
struct ConsumeCommand: Command {
  let context: CommandContext
  let options: ConsumeOptions

  func run() throws(CommandExit) -> Int32 {
    let (loaded, places) = try context.standing(allowsUnsetSecrets: true)
    let setup = AnalyticsSetup(loaded, publisher: nil)
    let records = try NamedRecords(context: context, loaded: loaded, places: places)
      .find([options.item], of: nil, storedOnly: false)
    guard let item = records.first else { return ExitStatus.nothing.code }
    let now = context.clock.now().wall
    let time = options.time ?? now
    guard !Freshness.isFuture(time, at: now) else {
      throw context.failed(
        .usage,
        "usage.future",
        "`--at \(Timestamp.format(time))` is later than now, \(Timestamp.format(now))"
      )
    }
    let length = options.length ?? StreamLength.of(item, in: places.bodies)
    let event = try context.writingState(places) { state throws(Failure) in
      try state.consume(
        item.url,
        .passed(from: options.start ?? .zero, to: options.end, of: length),
        fetchedAt: item.fetchedAt,
        of: setup.identity,
        within: setup.bounds,
        seenAt: time,
        at: now
      ) { quartiles in
        consumption(of: item, length, quartiles, at: time)
      }
    }
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-event/1", "action": "consume", "event": event.document,
      ])
    }
    return ExitStatus.ok.code
  }

  private func consumption(
    of item: ContentRecord,
    _ length: Duration?,
    _ quartiles: Quartiles,
    at now: Instant
  ) -> AnalyticsEvent {
    let url = Redaction.masked(Redaction.url(item.url), needles: context.console.needles)
    return AnalyticsEvent(
      new: .consumption,
      item.id.isEmpty ? nil : item.id,
      at: now,
      [
        ("url", .string(url)), ("provider", .optional(item.provider)),
        ("from_ms", .milliseconds(options.start ?? .zero)),
        ("to_ms", .milliseconds(options.end ?? length)),
        ("length_ms", .milliseconds(length)),
        ("quartiles", .array(quartiles.percents.map { .integer(Int64($0)) })),
      ]
    )
  }
}

/// How long a stored stream is, as its playlists say.
enum StreamLength {
  /// Nil for what is none.
  static func of(_ item: ContentRecord, in bodies: BodyPaths) -> Duration? {
    guard !item.files.isEmpty, item.mime?.contains("mpegurl") == true else { return nil }
    let playlists = item.files.filter { $0.role == .playlist && !$0.isReserved }
    // What is opened first is the item's own body, and may be all there is.
    return (playlists.map(\.digest) + [item.digest].compactMap(\.self)).compactMap { digest in
      guard let bytes = try? FileReading.read(bodies.path(of: digest), limit: largest) else {
        return nil
      }
      return length(of: String(decoding: bytes, as: UTF8.self))
    }
    .max()
  }

  private static let largest = 16 << 20

  /// A master playlist has no pieces of its own.
  private static func length(of playlist: String) -> Duration? {
    let mark = "#EXTINF:"
    let pieces = playlist.split(separator: "\n").filter { $0.hasPrefix(mark) }.compactMap {
      Double($0.dropFirst(mark.count).prefix { $0 != "," })
    }
    let seconds = pieces.reduce(0, +)
    return seconds > 0 && seconds < 1e9 ? .milliseconds(Int64(seconds * 1000)) : nil
  }
}
