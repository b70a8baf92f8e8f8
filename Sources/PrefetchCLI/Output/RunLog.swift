import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Log of runs, kept for two weeks, a file per day and configuration; its failures fail no run.
final class RunLog {
  /// Folder of files named `2026-11-24_NAME.log`.
  static let folderName = "logs"
  private static let daysKept: Int64 = 14
  private static let suffix = ".log"

  private let folder: String
  private let name: String
  private let isJSON: Bool
  private let clock: any Clock
  private var stream: StandardOutput?
  private var hasBegun = false

  init(state: String, name: String, isJSON: Bool, clock: any Clock) {
    folder = "\(state)/\(Self.folderName)"
    self.name = name
    self.isJSON = isJSON
    self.clock = clock
  }

  func append(_ text: String) {
    if !hasBegun { begin() }
    stream?.append(text, at: clock.now().wall, isJSON: isJSON)
  }

  private func begin() {
    hasBegun = true
    let now = clock.now().wall
    let path = "\(folder)/\(Self.fileName(name, at: now))"
    let isNew = FileReading.permissionBits(path) == nil
    guard (try? FolderCreation.make(folder, isOwn: true)) != nil,
      let file = try? StandardOutput(appendingTo: path, isPrivate: true)
    else { return }
    stream = file
    guard isNew else { return }
    for old in FolderListing.names(folder) where Self.isExpired(old, at: now) {
      FolderListing.remove(old, in: folder)
    }
  }

  static func fileName(_ name: String, at now: Instant) -> String {
    let letters = name.unicodeScalars.prefix(100).map { letter -> Character in
      let isSafe =
        letter.isASCII
        && (letter.properties.isAlphabetic || "-.0123456789".unicodeScalars.contains(letter))
      return isSafe ? Character(letter) : "-"
    }
    let date = Timestamp.format(now).prefix { $0 != "T" }
    return "\(date)_\(letters.isEmpty ? "prefetch" : String(letters))\(suffix)"
  }

  static func isExpired(_ file: String, at now: Instant) -> Bool {
    guard file.hasSuffix(suffix), let end = file.firstIndex(of: "_"),
      let day = Timestamp.parse(file[..<end])
    else { return false }
    return now - day > .seconds((daysKept + 1) * 86_400)
  }
}
