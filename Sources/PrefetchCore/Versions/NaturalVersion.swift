/// Texts whose runs of digits compare as numbers, and whose other bytes compare as bytes.
enum NaturalVersion {
  /// Appends a key in which a number has the rank of the byte `0` among other bytes.
  static func append(_ bytes: ArraySlice<UInt8>, to key: inout VersionKey) {
    var text = VersionText(bytes)
    text.skipPrefix()
    while !text.isAtEnd {
      if let digits = text.takeDigits() {
        key.append(UInt8(ascii: "0"))
        key.append(number: digits)
      } else if let other = text.take(while: { !ASCII.isDigit($0) }) {
        key.append(text: other)
      }
    }
    key.append(0)
  }
}
