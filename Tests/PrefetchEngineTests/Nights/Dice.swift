/// SplitMix64: what a seed and some numbers decide, however often and in whatever order it is asked.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(_ numbers: Int...) {
    state = 0
    for number in numbers {
      state ^= UInt64(bitPattern: Int64(number))
      state = next()
    }
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func happens(_ percent: Int) -> Bool {
    number(0...99) < percent
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[number(0...values.count - 1)]
  }
}
