internal import PrefetchCore

struct MinisignSignature: Hashable {
  /// Whether the BLAKE2b digest was signed; older files sign the bytes themselves.
  var isPrehashed: Bool
  var signer: MinisignKeyID
  var bytes: [UInt8]
  var commentBytes: [UInt8]
  /// Signature of `bytes` and the comment, so that comments cannot move between signatures.
  var commentSignature: [UInt8]

  func text(untrustedComment: String) -> String {
    let algorithm = isPrehashed ? MinisignText.prehashed : MinisignText.algorithm
    return """
      \(MinisignText.untrustedComment)\(untrustedComment)
      \(Base64.encode(algorithm + signer.bytes + bytes))
      \(MinisignText.trustedComment)\(String(decoding: commentBytes, as: UTF8.self))
      \(Base64.encode(commentSignature))

      """
  }
}

extension MinisignSignature {
  /// Largest file; minisign itself writes comments of at most 1 KiB and 8 KiB.
  private static let byteLimit = 16_384

  init(parsing file: [UInt8]) throws(Minisign.Fault) {
    guard file.count <= Self.byteLimit else { throw .malformedSignature(line: 1, .tooLong) }
    let lines = Self.lines(of: file)
    _ = try Self.content(of: lines, at: 0, after: MinisignText.untrustedComment)
    let fields = try Self.decode(lines, at: 1, byteCount: 74, missing: "the signature")
    switch Array(fields[..<2]) {
    case MinisignText.prehashed: isPrehashed = true
    case MinisignText.algorithm: isPrehashed = false
    default: throw .malformedSignature(line: 2, .unknownAlgorithm)
    }
    signer = MinisignKeyID(fields[2..<10])
    bytes = Array(fields[10...])
    let comment = try Self.content(of: lines, at: 2, after: MinisignText.trustedComment)
    guard String(validating: comment, as: UTF8.self) != nil else {
      throw .malformedSignature(line: 3, .notText)
    }
    commentBytes = Array(comment)
    let missing = "the signature of the trusted comment"
    commentSignature = try Self.decode(lines, at: 3, byteCount: 64, missing: missing)
    for (index, line) in lines.enumerated().dropFirst(4) where !line.isEmpty {
      throw .malformedSignature(line: index + 1, .surplus)
    }
  }

  /// Splits lines as minisign does: at LF or CRLF, with an optional final line end.
  private static func lines(of file: [UInt8]) -> [ArraySlice<UInt8>] {
    file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
  }

  private static func content(
    of lines: [ArraySlice<UInt8>],
    at index: Int,
    after prefix: String
  ) throws(Minisign.Fault) -> ArraySlice<UInt8> {
    guard index < lines.count, lines[index].starts(with: prefix.utf8) else {
      throw .malformedSignature(line: index + 1, .missing("`\(prefix)`"))
    }
    return lines[index].dropFirst(prefix.utf8.count)
  }

  private static func decode(
    _ lines: [ArraySlice<UInt8>],
    at index: Int,
    byteCount: Int,
    missing: String
  ) throws(Minisign.Fault) -> [UInt8] {
    guard index < lines.count, !lines[index].isEmpty else {
      throw .malformedSignature(line: index + 1, .missing(missing))
    }
    do {
      let line = String(decoding: lines[index], as: UTF8.self)
      return try MinisignText.decode(line, byteCount: byteCount)
    } catch {
      throw .malformedSignature(line: index + 1, error)
    }
  }
}

enum MinisignText {
  static let untrustedComment = "untrusted comment: "
  static let trustedComment = "trusted comment: "
  static let algorithm = Array("Ed".utf8)
  static let prehashed = Array("ED".utf8)

  static func decode(
    _ line: some StringProtocol,
    byteCount: Int
  ) throws(Minisign.Malformation) -> [UInt8] {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    let start = line.firstIndex { !isSpace($0) } ?? line.endIndex
    let end = line.lastIndex { !isSpace($0) }.map { line.index(after: $0) } ?? start
    guard let bytes = Base64.decode(line[start..<end]) else { throw .notBase64 }
    guard bytes.count == byteCount else {
      throw .byteCount(found: bytes.count, expected: byteCount)
    }
    return bytes
  }
}
