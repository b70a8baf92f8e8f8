internal import Glibc

/// How long tests with made-up input go on: `PREFETCH_ROUNDS` says so, and nothing else.
package enum Campaign {
  private static let asked: Int =
    unsafe getenv("PREFETCH_ROUNDS").flatMap { unsafe Int(String(cString: $0)) } ?? 0

  /// The one seed to look at, where `PREFETCH_SEED` names it.
  package static var seed: Int? {
    unsafe getenv("PREFETCH_SEED").flatMap { unsafe Int(String(cString: $0)) }
  }

  /// Whether there is time for tests that take minutes.
  package static var isLong: Bool { asked >= 100 }

  /// How many documents each reader gets: 200,000 where there is time.
  package static func documents(usually count: Int) -> Int {
    isLong ? 200_000 : count * max(1, asked)
  }

  /// How many made-up worlds are lived through: 2,000 where there is time.
  package static func seeds(usually count: Int) -> Int {
    isLong ? 2_000 : count * max(1, asked)
  }
}
