/// Counts the values of a JSON text by its commas and brackets, without building a tree.
enum JSONValueCount {
  /// Returns the number of values, exact for valid JSON; stops once it exceeds `limit`.
  static func of(_ text: [UInt8], upTo limit: Int) -> Int {
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
        // The first value of a container follows its bracket; the others follow commas.
        if isOpened { count += 1 }
        isOpened = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
        if byte == UInt8(ascii: ",") { count += 1 }
        isInString = byte == UInt8(ascii: "\"")
      }
    }
    return count
  }
}
