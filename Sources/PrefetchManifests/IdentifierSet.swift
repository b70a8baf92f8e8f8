internal import PrefetchCore

/// Ids that a manifest has already used, each within its provider, to find repeated ones.
struct IdentifierSet {
  private var keys: [URLKey] = []
  private var index = KeyTable()

  mutating func insert(_ id: RawSpan, of provider: RawSpan) -> Bool {
    let key = URLKey(provider, and: id)
    guard index.insert(key, at: keys.count, keyAt: { keys[$0] }) == nil else { return false }
    keys.append(key)
    return true
  }

  mutating func insert(_ id: String, of provider: String?) -> Bool {
    let (id, provider) = (Array(id.utf8), Array((provider ?? "").utf8))
    return unsafe insert(id.span.bytes, of: provider.span.bytes)
  }
}
