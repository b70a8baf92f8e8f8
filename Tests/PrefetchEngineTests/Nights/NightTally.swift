/// Counts of some nights.
struct NightTally: Hashable {
  var nights = 0
  var requests = 0
  var notModified = 0
  var bodies = 0
  var keeps = 0
  var parts = 0
  var refusals = 0
  var failures = 0

  static func + (a: Self, b: Self) -> Self {
    var sum = a
    for field in fields { sum[keyPath: field.path] += b[keyPath: field.path] }
    return sum
  }

  static var fields: [(name: String, path: WritableKeyPath<Self, Int>)] {
    [
      ("nights", \.nights), ("requests", \.requests), ("304s", \.notModified),
      ("bodies", \.bodies), ("keeps", \.keeps), ("parts", \.parts), ("refusals", \.refusals),
      ("failures", \.failures),
    ]
  }
}

extension NightTally: CustomStringConvertible {
  var description: String {
    Self.fields.map { "\(self[keyPath: $0.path]) \($0.name)" }.joined(separator: ", ")
  }
}
