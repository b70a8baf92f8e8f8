/// Path of a value: `segments[0].network.allow`, `tls.pins["cdn.example.com"].leaf`.
package struct ValuePath: Hashable, Sendable {
  package enum Step: Hashable, Sendable {
    case key(String)
    case index(Int)
  }

  package var steps: [Step]

  package init(_ steps: [Step] = []) {
    self.steps = steps
  }

  package func appending(_ step: Step) -> Self {
    Self(steps + [step])
  }
}

extension ValuePath: CustomStringConvertible {
  package var description: String {
    steps.reduce("") { Self.text(of: $1, below: $0) }
  }

  static func text(of step: Step, below parent: String) -> String {
    // Concatenation, since interpolation is slow for something made for every value.
    switch step {
    case .index(let index): parent + "[" + String(index) + "]"
    case .key(let key) where isIdentifier(key): parent.isEmpty ? key : parent + "." + key
    case .key(let key): parent + "[\"" + key + "\"]"
    }
  }

  private static func isIdentifier(_ key: String) -> Bool {
    !key.isEmpty
      && key.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      }
  }
}
