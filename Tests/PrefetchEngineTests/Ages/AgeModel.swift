import PrefetchCore

/// Bodies that an age gate lets pass from night to night, by rules written apart from the program.
struct AgeModel {
  let minimum: Duration
  private(set) var stored: [String: String] = [:]
  /// Body that last had to wait, and the night that first saw it.
  private var waiting: [String: (body: String, since: Instant)] = [:]

  init(minimum: Duration) {
    self.minimum = minimum
  }

  /// Returns the end of the item's wait; nil if the night leaves its present body in the store.
  mutating func night(_ item: AgeItem, at now: Instant, allowsYoung: Bool) -> Instant? {
    if allowsYoung { waiting[item.name] = nil }
    if allowsYoung || stored[item.name] == item.body { return take(item) }
    if stored[item.name] == nil, let published = item.published {
      guard now < published + minimum else { return take(item) }
      return published + minimum
    }
    // Only a transfer would show another body.
    if item.kind == .bare, let known = waiting[item.name], now < known.since + minimum {
      return known.since + minimum
    }
    if waiting[item.name]?.body != item.body { waiting[item.name] = (item.body, now) }
    guard let since = waiting[item.name]?.since, now < since + minimum else { return take(item) }
    return since + minimum
  }

  private mutating func take(_ item: AgeItem) -> Instant? {
    stored[item.name] = item.body
    return nil
  }

  mutating func drop(_ name: String) {
    stored[name] = nil
    waiting[name] = nil
  }
}
