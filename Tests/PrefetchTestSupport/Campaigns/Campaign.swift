internal import Glibc

/// Duration of tests with generated input, which only `PREFETCH_ROUNDS` decides.
package enum Campaign {
  private static let factor: Int =
    unsafe getenv("PREFETCH_ROUNDS").flatMap { unsafe Int(String(cString: $0)) } ?? 0

  /// The only seed to run, from `PREFETCH_SEED`.
  package static var seed: Int? {
    unsafe getenv("PREFETCH_SEED").flatMap { unsafe Int(String(cString: $0)) }
  }

  /// Whether tests that take minutes run.
  package static var isLong: Bool { factor >= 100 }

  /// Number of documents per reader: 200,000 in a long campaign.
  package static func documents(usually count: Int) -> Int {
    isLong ? 200_000 : count * max(1, factor)
  }

  /// Number of simulated worlds: 2,000 in a long campaign.
  package static func seeds(usually count: Int) -> Int {
    isLong ? 2_000 : count * max(1, factor)
  }
}
