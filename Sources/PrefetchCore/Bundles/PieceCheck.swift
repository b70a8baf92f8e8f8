extension BundlePiece {
  package func objection(to body: StagedBody, type: String?) -> Failure? {
    switch role {
    case .document, .playlist, .extra: return nil
    case .key:
      guard body.size != Self.keySize else { return nil }
      return Failure(
        .unexpectedContent,
        "it has \(body.size) bytes, but an AES-128 key has \(Self.keySize)"
      )
    case .media: break
    }
    guard body.size > 0 else { return Failure(.corrupted, "it is empty") }
    if let page = page(type: type, prefix: body.prefix) {
      return Failure(.unexpectedContent, "it is \(page), not the expected file")
    }
    if let needed, body.size < needed {
      return Failure(
        .corrupted,
        "it has \(body.size) bytes, but a range in it needs \(needed)"
      )
    }
    guard isEncrypted, !isRanged, prefix == nil, body.size % Self.blockSize != 0 else { return nil }
    return Failure(
      .corrupted,
      "it has \(body.size) bytes, but an AES-128 body has a multiple of \(Self.blockSize)"
    )
  }

  private static let keySize: Int64 = 16
  private static let blockSize: Int64 = 16

  private func page(type: String?, prefix: [UInt8]) -> String? {
    let essence = type.map(BodyCheck.essence) ?? ""
    let kind = Self.pages.first { $0.types.contains(essence) }
    if isEncrypted { return kind?.name }
    // Servers state wrong types; bytes that are no text weigh more.
    guard PageGuard.isText(prefix) else { return nil }
    if let kind { return kind.name }
    let first = prefix.first { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    return Self.pages.first { page in first.map(page.beginnings.contains) ?? false }?.name
  }

  private static let pages: [(name: String, types: Set<String>, beginnings: [UInt8])] = [
    ("an HTML page", ["text/html", "application/xhtml"], []),
    ("JSON", ["application/json", "text/json"], Array("{[".utf8)),
    ("XML", ["application/xml", "text/xml"], Array("<".utf8)),
  ]
}
