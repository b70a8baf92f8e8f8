internal import PrefetchCore

struct TierChains {
  private var rests: [String: OriginResponse] = [:]

  private static let most = 65_536

  mutating func add(_ response: OriginResponse) {
    guard let redirect = response.redirects.first, rests.count < Self.most else { return }
    var rest = response
    rest.redirects.removeFirst()
    rests[redirect.target] = rest
  }

  mutating func remove(_ url: String) -> OriginResponse? {
    rests.removeValue(forKey: url)
  }

  mutating func drop() {
    rests = [:]
  }
}
