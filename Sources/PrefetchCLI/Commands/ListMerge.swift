import PrefetchCore
import PrefetchStore

struct ListedItem {
  var stored: StoredItem
  var record: ContentRecord
  var reason: String?
}

/// Merges items without a row into the store's order: sort keys, absent first, bytes, then URL.
struct ListMerge {
  private let keys: [SortKey]
  private let uses: [String: Instant]
  private var waiting: ArraySlice<KeyedItem>

  private struct KeyedItem {
    var item: ListedItem
    var values: [Value]
  }

  private enum Value {
    case absent
    case number(Int64)
    case text(String)

    init(_ number: Int64?) {
      self = number.map { .number($0) } ?? .absent
    }

    func order(before other: Value) -> Int {
      switch (self, other) {
      case (.absent, .absent): 0
      case (.absent, _): -1
      case (_, .absent): 1
      case (.number(let one), .number(let two)): one < two ? -1 : one == two ? 0 : 1
      case (.number, .text): -1
      case (.text, .number): 1
      case (.text(let one), .text(let two)):
        one.utf8.elementsEqual(two.utf8) ? 0 : one.utf8.lexicographicallyPrecedes(two.utf8) ? -1 : 1
      }
    }
  }

  init(_ items: [ListedItem], by keys: [SortKey], uses: [String: Instant]) {
    self.keys = keys
    self.uses = uses
    waiting = []
    let keyed = items.map { KeyedItem(item: $0, values: values(of: $0)) }
    waiting = (keys.isEmpty ? keyed : keyed.sorted { precedes($0, $1) })[...]
  }

  /// Takes the waiting items that precede a stored one; none without sort keys.
  mutating func drain(before item: ListedItem) -> [ListedItem] {
    guard !keys.isEmpty, !waiting.isEmpty else { return [] }
    let keyed = KeyedItem(item: item, values: values(of: item))
    let count = waiting.prefix { precedes($0, keyed) }.count
    defer { waiting = waiting.dropFirst(count) }
    return waiting.prefix(count).map(\.item)
  }

  mutating func drainAll() -> [ListedItem] {
    defer { waiting = [] }
    return waiting.map(\.item)
  }

  private func precedes(_ one: KeyedItem, _ two: KeyedItem) -> Bool {
    for (index, key) in keys.enumerated() {
      let order = one.values[index].order(before: two.values[index])
      if order != 0 { return key.isDescending ? order > 0 : order < 0 }
    }
    return one.item.record.url.utf8.lexicographicallyPrecedes(two.item.record.url.utf8)
  }

  private func values(of item: ListedItem) -> [Value] {
    keys.map { value(of: item, by: $0.field) }
  }

  private func value(of item: ListedItem, by field: SortKey.Field) -> Value {
    let record = item.record
    switch field {
    case .name: return .text(Self.name(of: record.url))
    case .url: return .text(record.url)
    case .id: return .text(record.id)
    case .provider: return .text(record.provider ?? "")
    case .segment: return .text(item.stored.segments.first ?? "")
    case .state: return .text(record.state.rawValue)
    case .type: return .text(record.type ?? "")
    case .size: return Value(item.stored.size)
    case .fetched: return Value(record.fetchedAt?.milliseconds)
    case .validated: return Value(record.validatedAt?.milliseconds)
    // An item without a row has no stored freshness.
    case .expires: return Value(record.digest == nil ? nil : record.freshness.columns.until)
    case .used: return Value(uses[RememberedURL.name(of: record.url)]?.milliseconds)
    }
  }

  private static func name(of url: String) -> String {
    let path = url.prefix { $0 != "?" }
    guard let slash = path.lastIndex(of: "/") else { return String(path) }
    return String(path[path.index(after: slash)...])
  }
}
