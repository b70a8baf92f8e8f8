internal import Glibc

/// How long tests with made-up input go on: `PREFETCH_ROUNDS` says so, and nobody else.
package enum Campaign {
  private static let asked: Int =
    unsafe getenv("PREFETCH_ROUNDS").flatMap { unsafe Int(String(cString: $0)) } ?? 0

  /// Whether there is time for tests that take minutes.
  package static var isLong: Bool { asked >= 100 }

  /// How many documents each reader gets: 200,000 where there is time.
  package static func documents(usually count: Int) -> Int {
    isLong ? 200_000 : count * max(1, asked)
  }
}
