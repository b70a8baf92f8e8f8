internal import PrefetchCore

enum ChecksumName {
  static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
    var name: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        name.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "\\"): name.append(UInt8(ascii: "\\"))
      case UInt8(ascii: "n"): name.append(0x0A)
      case UInt8(ascii: "r"): name.append(0x0D)
      default: return nil
      }
    }
    return name
  }

  static func reference(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      if isUnescaped(byte) {
        bytes.append(byte)
      } else {
        bytes += "%\(Hexadecimal.encode([byte]).uppercased())".utf8
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @inline(__always)
  static func isUnescaped(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "+"),
      UInt8(ascii: "@"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "!"):
      true
    default: false
    }
  }
}
