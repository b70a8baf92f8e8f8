package import PrefetchCore

extension DiskStore {
  package func stored(url: String) throws(Failure) -> (any StoredResponse)? {
    try record(url: url).map { Shared($0) }
  }

  package func beginClaims() throws(Failure) {
    if claims != nil { earlierWithdrawals = try allWithdrawals() }
    try claims?.begin()
  }

  package static func claimedURLs(
    among urls: [String],
    in cache: String
  ) throws(Failure) -> Set<String> {
    guard let root = try Folder(at: cache) else { return [] }
    return try Claims.claimedURLs(among: urls, in: root)
  }

  package func controls(of urls: [String]) throws(Failure) -> [ItemControl?] {
    let withdrawn = try withdrawals()
    var controls: [ItemControl?] = []
    for url in urls {
      if withdrawn.contains(url) {
        controls.append(.removed)
      } else {
        let isPaused = try record(url: url)?.state == .paused
        controls.append(isPaused ? .paused : nil)
      }
    }
    return controls
  }

  /// Returns URLs that users removed since the claims began, while a run had them in flight.
  func withdrawals() throws(Failure) -> Set<String> {
    guard let earlierWithdrawals else { return [] }
    let all = try allWithdrawals()
    return Set(all.filter { earlierWithdrawals[$0.key] != $0.value }.keys)
  }

  private func allWithdrawals() throws(Failure) -> [String: Int64] {
    let rows = try database().prepare(
      "SELECT url, max(since) FROM released_items WHERE holders<0 GROUP BY url"
    )
    var times: [String: Int64] = [:]
    while try rows.step() { times[rows.text(0)] = rows.number(1) }
    return times
  }

  package func endClaims() {
    claims?.end()
  }

  package func hasOtherRuns() throws(Failure) -> Bool {
    try claims?.look() ?? false
  }

  package func claim(_ urls: [String]) throws(Failure) -> [Bool] {
    try claims?.acquire(urls) ?? urls.map { _ in true }
  }

  package func release(_ urls: [String]) {
    claims?.release(urls)
  }

  private var claims: Claims? {
    if case .writing(let writing) = access { writing.claims } else { nil }
  }
}
