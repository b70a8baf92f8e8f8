/// Unpredictable names for temporary files.
enum RandomName {
  static func make(_ prefix: String) -> String {
    prefix + String(UInt64.random(in: .min ... .max), radix: 36)
  }
}
