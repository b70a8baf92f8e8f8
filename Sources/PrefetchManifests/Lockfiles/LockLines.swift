internal import PrefetchCore

/// Numbered lines of a UTF-8 text, LF or CRLF, without a byte order mark.
struct LockLines: Sequence, IteratorProtocol {
  struct LockLine {
    var number: Int
    var text: String

    /// Returns a failure at a word of the line, counted from 1.
    func invalid(_ message: String, word: Int = 1) -> Failure {
      Failure(.manifestInvalid, "line \(number), column \(column(ofWord: word)): \(message)")
    }

    private func column(ofWord number: Int) -> Int {
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.indices.contains(number - 1) else { return 1 }
      let before = text[..<words[number - 1].startIndex]
      return before.unicodeScalars.count + 1
    }
  }

  private let bytes: [UInt8]
  private var offset = 0
  private var number = 0

  init(_ span: RawSpan) throws(Failure) {
    let all = unsafe span.withUnsafeBytes { unsafe Array($0) }
    bytes = all.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(all[3...]) : all
    do {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      let line = bytes[..<error.byteOffsets.lowerBound].count { $0 == 0x0A } + 1
      throw Failure(.manifestInvalid, "line \(line): it is not valid UTF-8")
    }
  }

  mutating func next() -> LockLine? {
    guard offset < bytes.count else { return nil }
    let end = bytes[offset...].firstIndex(of: 0x0A) ?? bytes.count
    var text = bytes[offset..<end]
    if text.last == 0x0D { text = text.dropLast() }
    offset = end + 1
    number += 1
    return LockLine(number: number, text: String(decoding: text, as: UTF8.self))
  }
}
