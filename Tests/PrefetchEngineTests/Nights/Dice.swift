import PrefetchTestSupport

/// Random numbers that depend only on a seed and some numbers, not on the order of calls.
struct Dice: RandomNumberGenerator {
  private var random: SeededRandom

  init(_ numbers: Int...) {
    random = SeededRandom(mixing: numbers)
  }

  mutating func next() -> UInt64 {
    random.next()
  }

  mutating func happens(_ percent: Int) -> Bool {
    random.happens(percent)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }

  mutating func pick<Value>(_ values: [Value]) -> Value {
    values[number(0...values.count - 1)]
  }
}
