package import PrefetchCore

extension DiskStore {
  package func stored(url: String) throws(Failure) -> (any StoredAnswer)? {
    try record(url: url).map { Shared($0) }
  }

  package func beginClaims() throws(Failure) {
    try claims?.begin()
  }

  package func endClaims() {
    claims?.end()
  }

  package func hasCompany() throws(Failure) -> Bool {
    try claims?.look() ?? false
  }

  package func claim(_ urls: [String]) throws(Failure) -> [Bool] {
    try claims?.take(urls) ?? urls.map { _ in true }
  }

  package func release(_ urls: [String]) {
    claims?.release(urls)
  }

  /// Nil for a store that only reads, and asks no server for others.
  private var claims: Claims? {
    if case .writing(let writing) = access { writing.claims } else { nil }
  }
}
