/// Appending plain entries straight from the bytes of a document.
extension EntryTable {
  struct Folder: Sendable {
    fileprivate var origin: Int
    fileprivate var originLength: Int
    fileprivate var bytes: [UInt8]
  }

  package struct ColumnAddress: Sendable {
    fileprivate enum Form: Sendable {
      case whole
      case fromRoot
      case fromFolder
    }

    fileprivate var form: Form
    fileprivate var origin: Int
    /// Bytes of the complete URL before the written ones.
    fileprivate var leading: Int
    fileprivate var originLength: Int
  }

  package struct Details: Sendable {
    package var metadata: UInt16 = 0
    package var size: Int64?
    package var digest: ContentDigest?
    package var strongDigest: StrongDigest?
    package var published: Instant?

    package init() {}
  }

  package mutating func resolveReferences(against base: WebURL) {
    let number = origins.number(of: base)
    let prefix = origins.prefix(number)
    let length = base.path.utf8.reversed().drop { $0 != UInt8(ascii: "/") }.count
    folder = Folder(
      origin: number,
      originLength: prefix.count,
      bytes: prefix + base.path.utf8.prefix(length)
    )
    candidate = []
    candidateLeading = 0
  }

  /// Resolves a URL that needs no repair; nil sends it through ``WebURL``, whether valid or not.
  package mutating func resolve(_ url: RawSpan) -> ColumnAddress? {
    guard url.byteCount > 0, url.byteCount <= WebURL.maximumLength else { return nil }
    if let origin = origins.number(beginning: url) {
      let length = origins.prefix(origin).count
      let target = url.extracting(length..<url.byteCount)
      guard WebURL.isCanonical(target: target) else { return nil }
      return ColumnAddress(form: .whole, origin: origin, leading: 0, originLength: length)
    }
    guard let folder, folder.bytes.count + url.byteCount <= WebURL.maximumLength else { return nil }
    let form: ColumnAddress.Form
    if url.begins(with: UInt8(ascii: "/")) {
      let rest = url.extracting(1..<url.byteCount)
      guard !rest.begins(with: UInt8(ascii: "/")), WebURL.isCanonical(target: url) else {
        return nil
      }
      form = .fromRoot
    } else {
      guard WebURL.isCanonical(relative: url) else { return nil }
      form = .fromFolder
    }
    return ColumnAddress(
      form: form,
      origin: folder.origin,
      leading: form == .fromRoot ? folder.originLength : folder.bytes.count,
      originLength: folder.originLength
    )
  }

  package mutating func metadata(type: RawSpan?, provider: RawSpan?, mime: RawSpan?) -> UInt16? {
    var metadata = MetadataTable.MetadataKey()
    if let type {
      guard let number = metadataTable.number(ofWord: type) else { return nil }
      metadata.type = number
    }
    if let provider {
      guard let number = metadataTable.number(ofWord: provider) else { return nil }
      metadata.provider = number
    }
    if let mime {
      guard let number = metadataTable.number(ofWord: mime) else { return nil }
      metadata.mime = number
    }
    return metadataTable.number(of: metadata)
  }

  /// Appends an entry unless its URL is here; id and path need valid UTF-8 of 1 to 65,535 bytes.
  package mutating func appendURL(
    _ url: RawSpan,
    at address: ColumnAddress,
    id: RawSpan?,
    path: RawSpan? = nil,
    _ details: Details
  ) {
    switch address.form {
    case .whole:
      let key = URLKey(url)
      guard admit(key) else { return }
      let start = text.count
      let target = url.extracting(address.originLength..<url.byteCount)
      unsafe target.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
      finish(start, address, id: id, path: path, details, key: key)
    case .fromRoot, .fromFolder:
      join(address.leading, url)
      let key = unsafe URLKey(candidate.span.bytes)
      guard admit(key) else { return }
      let start = text.count
      text.append(contentsOf: candidate[address.originLength...])
      finish(start, address, id: id, path: path, details, key: key)
    }
  }

  /// Returns the kind number of an entry that fits the columns; nil for others or in a full table.
  mutating func columnMetadata(of entry: ManifestEntry) -> UInt16? {
    // A made id is not stored: a table with an identifier maker makes it again on reading.
    guard !entry.isIdentifierMade || makeIdentifier != nil, entry.fitsColumns else { return nil }
    return metadataTable.number(type: entry.type, provider: entry.provider, mime: entry.mime)
  }

  mutating func fill(_ row: inout Row, from entry: ManifestEntry, _ url: [UInt8]) {
    text += url.dropFirst(entry.url.originLength)
    row.length = UInt16(text.count - row.start)
    if let id = entry.id, !entry.isIdentifierMade {
      row.idLength = UInt16(id.utf8.count)
      text += id.utf8
    }
    if let path = entry.path {
      row.pathLength = UInt16(path.utf8.count)
      text += path.utf8
    }
  }

  private mutating func join(_ leading: Int, _ url: RawSpan) {
    if leading == candidateLeading {
      candidate.removeLast(candidate.count - leading)
    } else {
      candidate = Array(folder?.bytes.prefix(leading) ?? [])
      candidateLeading = leading
    }
    unsafe url.withUnsafeBytes { unsafe candidate.append(contentsOf: $0) }
  }

  private mutating func finish(
    _ start: Int,
    _ address: ColumnAddress,
    id: RawSpan?,
    path: RawSpan?,
    _ details: Details,
    key: URLKey
  ) {
    var row = Row(start: start, size: details.size ?? -1, origin: UInt32(address.origin))
    row.length = UInt16(text.count - start)
    row.metadata = details.metadata
    if let id {
      row.idLength = UInt16(clamping: id.byteCount)
      unsafe id.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
    }
    if let path {
      row.pathLength = UInt16(clamping: path.byteCount)
      unsafe path.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
    }
    if let strong = details.strongDigest {
      strongDigests.append(strong)
      row.extra = -Int32(strongDigests.count)
    }
    append(row, key: key, digest: details.digest, published: details.published)
  }
}

extension ManifestEntry {
  fileprivate var fitsColumns: Bool {
    caption.isEmpty && zone == nil && revision == nil && entityTag == nil && lifetime == nil
      && expires == nil
      && priority == nil && network == nil && headers.isEmpty && alternates.isEmpty && isRequired
      && categories.isEmpty && thumbnail == nil && behavior == nil && !isThumbnail && seconds == nil
      && digests.count < 2 && digests.allSatisfy(Self.fitsColumn)
      && fits(id) && fits(path)
  }

  private static func fitsColumn(_ digest: ExpectedDigest) -> Bool {
    digest.algorithm == .sha256 && !digest.isOfLockfile
      && ContentDigest(bytes: digest.bytes)?.isNone == false
  }

  private func fits(_ name: String?) -> Bool {
    name.map { 1...0xFFFF ~= $0.utf8.count } ?? true
  }
}

extension RawSpan {
  fileprivate func begins(with byte: UInt8) -> Bool {
    guard byteCount > 0 else { return false }
    return unsafe unsafeLoad(as: UInt8.self) == byte
  }
}
