/// How many values a JSON text holds, by its commas and brackets, without a tree of them.
enum JSONValueCount {
  /// Exact for what is JSON; stops counting once there are more than `limit`.
  static func of(_ text: [UInt8], upTo limit: Int) -> Int {
    // A value takes two bytes, with the comma behind it.
    guard text.count / 2 > limit else { return 0 }
    var count = 1
    var isInString = false
    var isEscaped = false
    var isOpened = false
    for byte in text where count <= limit {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: "]"), UInt8(ascii: "}"): isOpened = false
      default:
        // The first value of a container that is not empty; the others follow commas.
        if isOpened { count += 1 }
        isOpened = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
        if byte == UInt8(ascii: ",") { count += 1 }
        isInString = byte == UInt8(ascii: "\"")
      }
    }
    return count
  }
}
