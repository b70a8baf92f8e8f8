/// Names that no other process can foresee, for files that exist for a moment.
enum RandomName {
  static func make(_ prefix: String) -> String {
    prefix + String(UInt64.random(in: .min ... .max), radix: 36)
  }
}
