internal import PrefetchCore

struct TierChains {
  private var rests: [String: OriginAnswer] = [:]

  private static let most = 65_536

  mutating func note(_ answer: OriginAnswer) {
    guard let redirect = answer.redirects.first, rests.count < Self.most else { return }
    var rest = answer
    rest.redirects.removeFirst()
    rests[redirect.target] = rest
  }

  mutating func take(_ url: String) -> OriginAnswer? {
    rests.removeValue(forKey: url)
  }

  mutating func drop() {
    rests = [:]
  }
}
