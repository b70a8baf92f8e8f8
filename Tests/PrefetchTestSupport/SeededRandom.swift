/// A reproducible random generator (SplitMix64): a seed identifies a run.
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(_ seed: UInt64) {
    state = seed
  }

  /// Creates a generator whose output depends only on the numbers.
  package init(mixing numbers: [Int]) {
    state = 0
    for number in numbers {
      state ^= UInt64(bitPattern: Int64(number))
      state = next()
    }
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func happens(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }
}
