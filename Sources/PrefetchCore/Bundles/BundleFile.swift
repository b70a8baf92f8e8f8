package struct BundleFile: Hashable, Sendable {
  package enum Role: UInt8, Hashable, Sendable {
    /// Document of a server that names other files; not for players.
    case document
    case playlist
    case media
    case key
    case extra
  }

  package var role: Role
  /// Key by which the next run finds the file, ``BundleRules/key(of:)``; empty if made here.
  package var key: String
  /// Name below the item's own name; empty for files that are not for players.
  package var name: String
  package var digest: ContentDigest
  package var size: Int64
  package var mime: String?
  /// Whether the file waits, hidden from readers, for the rest of a new whole.
  package var isReserved = false
  /// Number of leading bytes that were requested; nil for the whole file.
  package var prefix: Int64?
  package var validators = Validators()
  package var finalURL: String?

  package init(role: Role, key: String, name: String, digest: ContentDigest, size: Int64) {
    self.role = role
    self.key = key
    self.name = name
    self.digest = digest
    self.size = size
  }

  package var isShown: Bool { !name.isEmpty && !isReserved }

  var reserved: BundleFile {
    var file = self
    file.isReserved = true
    return file
  }

  /// The file as the index keeps it, without the query of a redirect.
  package var sealed: BundleFile {
    var file = self
    file.finalURL = finalURL.map(SealedURL.text)
    return file
  }

  package func has(_ piece: BundlePiece) -> Bool {
    guard role == piece.role, piece.needed.map({ $0 <= size }) ?? true else { return false }
    guard let prefix else { return true }
    return piece.prefix.map { $0 <= prefix } ?? false
  }

  /// Returns the file as a partial body; nil if the server cannot continue the same bytes.
  func beginning(of url: WebURL) -> PartialBody? {
    guard let tag = validators.entityTag, Validators.isStrong(tag), size > 0 else { return nil }
    var part = PartialBody(source: finalURL ?? url.string, validator: tag, offset: size)
    part.object = digest
    return part
  }

  /// Returns a record for revalidation, since an item of several files has only one row.
  package func record(of url: WebURL) -> ContentRecord {
    var record = ContentRecord(url: url.string, id: "")
    record.digest = digest
    record.size = size
    // A date without a status would mark a file that the user brought.
    record.status = 200
    record.validators = validators
    record.finalURL = finalURL
    return record
  }
}
