/// Compact result of an item that another segment may still name; a million of them may be kept.
struct SettledItem: Sendable {
  private let size: Int64?
  fileprivate let digest: ContentDigest?
  private let state: ItemState
  private let action: ItemAction
  private let outcome: ItemOutcome?
  let source: ItemResult.Source?
  private let isUsable: Bool
  var isRequired: Bool

  init(_ result: ItemResult) {
    size = result.size
    digest = result.isUsable ? result.digest : nil
    state = result.state
    action = result.action
    outcome = result.outcome
    source = result.source
    isUsable = result.isUsable
    isRequired = result.isRequired
  }

  init(simple size: Int64?, _ digest: ContentDigest?, hasArrived: Bool, _ isRequired: Bool) {
    self.size = size
    self.digest = digest
    state = .cached
    action = hasArrived ? .fetch : .revalidate
    outcome = hasArrived ? .added : .unchanged
    source = hasArrived ? .network : .revalidated
    isUsable = true
    self.isRequired = isRequired
  }

  func complete(_ result: inout ItemResult) {
    result.size = size
    if let digest { result.digest = digest }
    result.state = state
    result.action = action
    result.outcome = outcome
    result.source = source
    result.isUsable = isUsable
    result.isRequired = isRequired
  }
}

struct SettledItems: Sendable {
  private var items: [SettledItem?] = []
  private var troubles: [Int: Trouble] = [:]

  private var selecting: [Int: [String]] = [:]
  /// Items whose answers say `no-store`.
  private var unstorable: Set<Int> = []

  private struct Trouble: Sendable {
    var failure: Failure?
    var deferral: Deferral?
  }

  mutating func recordEnd(_ end: SettledItem, of item: Int) {
    while items.count <= item { items.append(nil) }
    items[item] = end
  }

  mutating func recordResult(_ result: ItemResult, of item: Int) {
    recordEnd(SettledItem(result), of: item)
    if result.failure != nil || result.deferral != nil {
      troubles[item] = Trouble(failure: result.failure, deferral: result.deferral)
    }
  }

  mutating func require(_ item: Int) {
    items[item]?.isRequired = true
  }

  mutating func recordVariance(_ variance: Variance?, of item: Int) {
    guard let variance else { return }
    selecting[item] = variance.hops.flatMap(\.names)
  }

  mutating func recordHeaders(_ headers: HeaderBlock, of item: Int) {
    if !Freshness.mayStore(headers, honorsNoStore: true) { unstorable.insert(item) }
  }

  func saysNoStore(_ item: Int) -> Bool {
    unstorable.contains(item)
  }

  func selecting(of item: Int) -> [String] {
    selecting[item] ?? []
  }

  func isDeferred(_ item: Int) -> Bool {
    troubles[item]?.deferral != nil
  }

  func failure(of item: Int) -> Failure? {
    troubles[item]?.failure
  }

  func digest(of item: Int) -> ContentDigest? {
    items.indices.contains(item) ? items[item]?.digest : nil
  }

  func source(of item: Int) -> ItemResult.Source? {
    items.indices.contains(item) ? items[item]?.source : nil
  }

  func complete(_ result: inout ItemResult, of item: Int) -> Bool {
    guard items.indices.contains(item), let settled = items[item] else { return false }
    settled.complete(&result)
    result.failure = troubles[item]?.failure
    result.deferral = troubles[item]?.deferral
    return true
  }
}
