internal import PrefetchCore

/// Why a binary property list is invalid; the reader adds the key's path.
struct BinaryPlistFault: Error {
  var code: Diagnostic.Code = "document.syntax"
  var message: String
  var hint: String?

  init(_ message: String, hint: String? = nil) {
    self.message = message
    self.hint = hint
  }
}

/// Objects of a `bplist00` file by number; every read checks its bounds.
struct BinaryPlistTable {
  struct Text {
    enum Form {
      case ascii
      case utf16
      case base64
    }

    var form: Form
    var start: Int
    var byteCount: Int
  }

  struct References {
    var start: Int
    var count: Int
  }

  enum Shape {
    case simple(Scalar)
    case string(Text)
    case data(Text)
    case array(References)
    case dict(keys: References, values: References)
  }

  struct Object {
    var type: Shape
    var offset: Int
  }

  let root: Int
  private let bytes: [UInt8]
  private let objectCount: Int
  private let offsetWidth: Int
  private let referenceWidth: Int
  private let offsetTable: Int

  init(_ bytes: [UInt8]) throws(BinaryPlistFault) {
    self.bytes = bytes
    guard bytes.starts(with: "bplist00".utf8) else {
      throw BinaryPlistFault(
        "this version of binary plist is not known",
        hint: "only `bplist00` is read"
      )
    }
    guard bytes.count >= 8 + 32 else { throw BinaryPlistFault("the binary plist is cut short") }
    let trailer = bytes.count - 32
    offsetWidth = Int(bytes[trailer + 6])
    referenceWidth = Int(bytes[trailer + 7])
    let numbers = [8, 16, 24].map { position in
      bytes[trailer + position..<trailer + position + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth),
      numbers.allSatisfy({ $0 < UInt64(bytes.count) }), numbers[0] > 0, numbers[1] < numbers[0],
      numbers[2] >= 8, Int(numbers[2]) + Int(numbers[0]) * offsetWidth <= trailer
    else { throw BinaryPlistFault("the trailer of the binary plist is damaged") }
    objectCount = Int(numbers[0])
    root = Int(numbers[1])
    offsetTable = Int(numbers[2])
  }

  func reference(_ position: Int, in references: References) throws(BinaryPlistFault) -> Int {
    let index = try unsigned(
      at: references.start + position * referenceWidth,
      width: referenceWidth
    )
    guard index < UInt64(objectCount) else { throw BinaryPlistFault("an object does not exist") }
    return Int(index)
  }

  func object(_ index: Int) throws(BinaryPlistFault) -> Object {
    let position = try unsigned(at: offsetTable + index * offsetWidth, width: offsetWidth)
    guard position >= 8, position < UInt64(offsetTable) else {
      throw BinaryPlistFault("an object is outside of the file")
    }
    let offset = Int(position)
    return Object(type: try kind(at: offset), offset: offset)
  }

  func decode(_ text: Text) throws(BinaryPlistFault) -> String {
    let run = bytes[text.start..<text.start + text.byteCount]
    switch text.form {
    case .base64: return base64(run)
    case .ascii:
      guard run.allSatisfy({ $0 < 0x80 }) else {
        throw BinaryPlistFault("an ASCII text holds other bytes")
      }
      return String(decoding: run, as: UTF8.self)
    case .utf16:
      let units = stride(from: run.startIndex, to: run.endIndex, by: 2).map { position in
        UInt16(run[position]) << 8 | UInt16(run[position + 1])
      }
      guard let string = String(validating: units, as: UTF16.self) else {
        throw BinaryPlistFault("a text holds half of a surrogate pair")
      }
      return string
    }
  }

  private func kind(at offset: Int) throws(BinaryPlistFault) -> Shape {
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch (marker >> 4, low) {
    case (0, 0): return .simple(Scalar("null", kind: .null))
    case (0, 8): return .simple(Scalar("false", kind: .boolean))
    case (0, 9): return .simple(Scalar("true", kind: .boolean))
    case (1, 0...4): return .simple(Scalar(try integer(offset + 1, 1 << low), kind: .number))
    case (2, 2), (2, 3): return .simple(Scalar(try real(offset + 1, 1 << low), kind: .number))
    case (3, 3): return .simple(Scalar(try date(offset + 1), kind: .date))
    case (4, _): return .data(try text(.base64, offset))
    case (5, _): return .string(try text(.ascii, offset))
    case (6, _): return .string(try text(.utf16, offset))
    case (8, _):
      throw BinaryPlistFault(
        "the file is a keyed archive, not a property list",
        hint: "save it as a property list"
      )
    case (10, _):
      let (count, start) = try self.count(offset, width: referenceWidth)
      return .array(References(start: start, count: count))
    case (11, _), (12, _): throw BinaryPlistFault("a property list takes no sets")
    case (13, _):
      let (count, start) = try self.count(offset, width: 2 * referenceWidth)
      return .dict(
        keys: References(start: start, count: count),
        values: References(start: start + count * referenceWidth, count: count)
      )
    default:
      throw BinaryPlistFault("the object type `0x\(String(marker, radix: 16))` is not known")
    }
  }

  private func text(_ form: Text.Form, _ offset: Int) throws(BinaryPlistFault) -> Text {
    let width = form == .utf16 ? 2 : 1
    let (count, start) = try self.count(offset, width: width)
    return Text(form: form, start: start, byteCount: count * width)
  }

  private func count(
    _ offset: Int,
    width: Int
  ) throws(BinaryPlistFault) -> (count: Int, start: Int) {
    var count = UInt64(bytes[offset] & 0x0F)
    var start = offset + 1
    if count == 15 {
      guard start < offsetTable, bytes[start] >> 4 == 1, bytes[start] & 0x0F <= 3 else {
        throw BinaryPlistFault("the length of an object is damaged")
      }
      let size = 1 << Int(bytes[start] & 0x0F)
      count = try unsigned(at: start + 1, width: size)
      start += 1 + size
    }
    guard start <= offsetTable, count <= UInt64((offsetTable - start) / width) else {
      throw BinaryPlistFault("an object is longer than the file")
    }
    return (Int(count), start)
  }
}

// MARK: - Numbers

extension BinaryPlistTable {
  private func unsigned(at start: Int, width: Int) throws(BinaryPlistFault) -> UInt64 {
    guard start >= 0, start + width <= bytes.count - 32 else {
      throw BinaryPlistFault("an object is outside of the file")
    }
    return bytes[start..<start + width].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Integers of up to four bytes are unsigned; those of eight and sixteen are signed.
  private func integer(_ start: Int, _ width: Int) throws(BinaryPlistFault) -> String {
    guard width > 8 else {
      let value = try unsigned(at: start, width: width)
      return width == 8 ? String(Int64(bitPattern: value)) : String(value)
    }
    let high = try unsigned(at: start, width: 8)
    let low = try unsigned(at: start + 8, width: 8)
    return String(Int128(Int64(bitPattern: high)) << 64 | Int128(low))
  }

  private func real(_ start: Int, _ width: Int) throws(BinaryPlistFault) -> String {
    let bits = try unsigned(at: start, width: width)
    let isFinite: Bool
    let text: String
    if width == 4 {
      let value = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
      (isFinite, text) = (value.isFinite, value.description)
    } else {
      let value = Double(bitPattern: bits)
      (isFinite, text) = (value.isFinite, value.description)
    }
    guard isFinite else { throw BinaryPlistFault("`\(text)` is not a number that can be used") }
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private func date(_ start: Int) throws(BinaryPlistFault) -> String {
    let seconds = Double(bitPattern: try unsigned(at: start, width: 8))
    guard let text = PlistDate.text(secondsSince2001: seconds) else {
      throw BinaryPlistFault("a date is outside of the years 1 to 9999")
    }
    return text
  }

  private func base64(_ run: ArraySlice<UInt8>) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity((run.count + 2) / 3 * 4)
    for start in stride(from: run.startIndex, to: run.endIndex, by: 3) {
      let group = run[start..<min(start + 3, run.endIndex)]
      var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(8 * (3 - group.count))
      for digit in 0..<4 {
        let isPadding = digit > group.count
        text.append(
          isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * digit) & 0x3F)]
        )
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
