/// One stored file of an item that consists of several.
package struct BundleFile: Hashable, Sendable {
  package enum Role: UInt8, Hashable, Sendable {
    /// As its server wrote it: it tells what else there is, and is not for players.
    case document
    /// Made here of such a document, for players.
    case playlist
    case media
    case key
    /// What is shown besides, and may be missing.
    case extra
  }

  package var role: Role
  /// By which the next run knows that it has it: ``BundleRules/key(of:)``; empty for what is made here.
  package var key: String
  /// Below the item's own name; empty for what is not for players.
  package var name: String
  package var digest: ContentDigest
  package var size: Int64
  package var mime: String?
  /// Whether it waits for the rest of a new whole, and no reader sees it until then.
  package var isReserved = false
  /// How many of its first bytes were asked for; nil for all of it.
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

  /// Whether readers see it.
  package var isShown: Bool { !name.isEmpty && !isReserved }

  /// The same, waiting for the rest of a whole.
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

  /// Whether it has as much as is wanted of a part.
  package func has(_ part: BundlePart) -> Bool {
    guard role == part.role, part.needed.map({ $0 <= size }) ?? true else { return false }
    guard let prefix else { return true }
    return part.prefix.map { $0 <= prefix } ?? false
  }

  /// As the beginning of the whole file, where its server can be asked for the rest of the same bytes.
  func beginning(of url: WebURL) -> PartialBody? {
    guard let tag = validators.entityTag, Validators.isStrong(tag), size > 0 else { return nil }
    var part = PartialBody(source: finalURL ?? url.string, validator: tag, offset: size)
    part.object = digest
    return part
  }

  /// As it is asked about; an item of several files has one row for all of them.
  package func record(of url: WebURL) -> ContentRecord {
    var record = ContentRecord(url: url.string, id: "")
    record.digest = digest
    record.size = size
    // A server gave it; a date without an answer would be that of a file that a user brought.
    record.status = 200
    record.validators = validators
    record.finalURL = finalURL
    return record
  }
}
