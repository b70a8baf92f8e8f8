package struct UnexpectedKey: Hashable, Sendable {
  package var host: String
  package var key: ContentDigest

  package var diagnostic: Diagnostic {
    Diagnostic(
      "pin.mismatch",
      "the keys of `\(host)` are none of those that are pinned; its own is \(key.pinText)",
      severity: .warning,
      hint: "its pin says `report_only`, so that nothing else follows"
    )
  }
}

extension ContentDigest {
  /// Digest in the notation of pins: `sha256/` and base64.
  package var pinText: String {
    "sha256/\(Base64.encode(bytes))"
  }
}
