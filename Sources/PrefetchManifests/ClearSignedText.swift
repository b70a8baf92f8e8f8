internal import PrefetchCore

/// Strips the OpenPGP frame of a clear-signed text; the signature is not verified.
struct ClearSignedText {
  private enum Section {
    case before
    case headers(TextLines.Line)
    case text(TextLines.Line)
    case signature
  }

  private var section = Section.before

  mutating func content(
    of line: TextLines.Line,
    _ lines: TextLines
  ) throws(Failure) -> Range<Int>? {
    switch section {
    case .before:
      guard lines.begins(line.range, with: "-----BEGIN PGP SIGNED MESSAGE-----") else {
        return line.range
      }
      section = .headers(line)
      return nil
    case .headers(let first):
      if lines.trimmed(line.range).isEmpty { section = .text(first) }
      return nil
    case .text:
      if lines.begins(line.range, with: "-----BEGIN PGP SIGNATURE-----") {
        section = .signature
        return nil
      }
      guard lines.begins(line.range, with: "- ") else { return line.range }
      return line.start + 2..<line.end
    case .signature: return nil
    }
  }

  /// Returns whether the text was clear-signed; throws when the text ends before its signature.
  func isFound(atEndOf lines: TextLines) throws(Failure) -> Bool {
    switch section {
    case .before: return false
    case .signature: return true
    case .headers(let first), .text(let first):
      throw NativeManifest.invalid(
        "the signed text that begins here has no signature, so its end is missing",
        at: lines.location(first.start, in: first)
      )
    }
  }
}

extension Diagnostic {
  /// Warning for users who take the OpenPGP frame for a verified signature.
  static var uncheckedSignature: Self {
    Diagnostic(
      "manifest.signature-unchecked",
      "the list is signed; its OpenPGP signature was not verified",
      severity: .warning
    )
  }
}
