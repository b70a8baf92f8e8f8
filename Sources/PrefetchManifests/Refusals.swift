internal import PrefetchCore

struct Refusals {
  private(set) var entries: [RejectedEntry] = []
  private(set) var byteCount = 0

  mutating func add(_ entry: RejectedEntry) {
    var entry = entry
    if entry.url.utf8.count > WebURL.maximumLength { entry.url = entry.url.prefix(256) + "…" }
    byteCount += entry.url.utf8.count + entry.failure.message.utf8.count
    entries.append(entry)
  }

  /// First failure that makes the whole document invalid; nil when there is none.
  var blame: Failure? {
    entries.first { $0.failure.code == .manifestInvalid }?.failure
  }
}
