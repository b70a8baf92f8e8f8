@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@testable import PrefetchCore

@Suite(
  "Orders of versions agree with the programs that define them",
  .enabled(if: VersionOracle.isThere, "needs dpkg, and python3 with packaging and semver")
)
struct VersionOracleTests {
  @Test(
    "Random pairs compare as the program compares them",
    arguments: [
      (VersionOrder.version, VersionPairs.Grammar.python), (.semver, .semver),
      (.natural, .natural), (.natural, .python), (.debian, .debian), (.debian, .natural),
    ]
  )
  func agreement(order: VersionOrder, grammar: VersionPairs.Grammar) throws {
    // dpkg needs two milliseconds a pair.
    let count = order == .debian ? 300 : 2_000
    var pairs = VersionPairs(grammar, seed: UInt64(Campaign.seed ?? 440))
    let chosen = (0..<(Campaign.isLong ? 20_000 : count)).map { _ in pairs.next() }
      // `dpkg` takes a version that begins with `-` for an option.
      .filter { order != .debian || !($0.a.hasPrefix("-") || $0.b.hasPrefix("-")) }
    let answers = VersionOracle(order).answers(to: chosen)
    try #require(answers.count == chosen.count)
    // A program that reads nothing would agree with anything.
    #expect(Set(answers.map { $0.prefix(1) }).isSuperset(of: ["<", "=", ">"]))
    for (pair, answer) in zip(chosen, answers) {
      #expect(comparison(order, pair.a, pair.b) == answer, "\(pair.a) and \(pair.b)")
    }
  }

  private func comparison(_ order: VersionOrder, _ a: String, _ b: String) -> String {
    let isValid = [a, b].map { isReadable($0, order) }
    guard isValid == [true, true], let left = order.key(of: a), let right = order.key(of: b) else {
      return "? \(isValid[0] ? "True" : "False") \(isValid[1] ? "True" : "False")"
    }
    return left < right ? "<" : left > right ? ">" : "="
  }

  /// Whether the order can read a text: all others rank below the least version.
  private func isReadable(_ text: String, _ order: VersionOrder) -> Bool {
    guard let key = order.key(of: text) else { return false }
    switch order {
    case .version, .natural, .date: return true
    case .semver: return order.key(of: "0.0.0-0").map { $0 <= key } ?? false
    case .debian:
      return order.key(of: String(repeating: "~", count: 400)).map { $0 < key } ?? false
    }
  }
}
