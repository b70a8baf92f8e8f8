internal import PrefetchCore
internal import PrefetchCrypto
internal import PrefetchDocuments

/// A manifest while its entries are collected from a lock file or an index.
struct ManifestDraft {
  private var collector = EntryCollector(base: nil)
  /// Reasons for leaving packages out, in the order of their first use, with names and counts.
  private var leftOut: [(reason: LeftOut, names: [String], count: Int)] = []
  private var furtherDocuments: [FurtherDocument] = []
  private var knownDocuments: Set<FurtherDocument> = []
  /// Versions of packages whose dates a registry states, by the registry's document.
  private var datedVersions: [WebURL: [PackageVersion]] = [:]
  private var surplus: String?

  /// Adds an entry; a name that another one has already is replaced by one made of the URL.
  mutating func add(_ entry: ManifestEntry, named name: String? = nil) {
    guard hasRoom() else { return }
    var entry = entry
    if let name, !name.isEmpty, collector.admits(id: name) { entry.id = name }
    collector.add(entry)
  }

  mutating func add(_ document: FurtherDocument) {
    guard hasRoom(), knownDocuments.insert(document).inserted else { return }
    furtherDocuments.append(document)
  }

  /// Notes that the registry's document of a package states the date of one version's file.
  mutating func addDate(of name: String, _ version: String?, file url: WebURL) {
    guard let version, let document = PackageRegistry.document(of: name, file: url) else { return }
    datedVersions[document, default: []].append(PackageVersion(version: version, url: url))
  }

  mutating func reject(_ url: String, id: String? = nil, _ failure: Failure) {
    guard hasRoom() else { return }
    collector.refuse(RejectedEntry(url: url, id: id, failure: failure))
  }

  /// Counts one more entry; after the limit nothing more is added and `finished` throws.
  private mutating func hasRoom() -> Bool {
    surplus = surplus ?? collector.surplus
    collector.count()
    return surplus == nil
  }

  mutating func leaveOut(_ name: String, _ reason: LeftOut) {
    if let index = leftOut.firstIndex(where: { $0.reason == reason }) {
      leftOut[index].count += 1
      if leftOut[index].names.count < LeftOut.mostNames { leftOut[index].names.append(name) }
    } else {
      leftOut.append((reason, [name], 1))
    }
  }

  mutating func warn(_ message: String, at location: SourceLocation? = nil) {
    let prefix = location.map { "line \($0.line): " } ?? ""
    collector.warn("manifest.ignored", prefix + message)
  }

  mutating func addNotice(_ message: String) {
    collector.warn(Diagnostic("manifest.note", message, severity: .note))
  }

  mutating func report(_ choice: LockChoice) {
    guard let message = choice.message else { return }
    collector.warn(Diagnostic(Diagnostic.lockChoice, message, severity: .note))
  }

  /// Returns the manifest; `asFurtherDocument` allows an empty document, since it only belongs to a list.
  consuming func finished(asFurtherDocument: Bool = false) throws(Failure) -> Manifest {
    if let surplus { throw Failure(.manifestInvalid, surplus) }
    let isEmpty = collector.isEmpty && furtherDocuments.isEmpty
    for (url, versions) in datedVersions.sorted(by: { $0.key.string < $1.key.string }) {
      furtherDocuments.append(
        FurtherDocument(url: url, kind: .dates(versions), accept: "application/json")
      )
    }
    var manifest = try collector.manifest(furtherDocuments: furtherDocuments)
    // A manifest without fetchable items must not count as an empty list, which removes every item.
    let missed = leftOut.filter(\.reason.isMissed).map { $0.reason.text($0.count) }
    if isEmpty, !asFurtherDocument, !missed.isEmpty {
      throw Failure(
        .manifestInvalid,
        "nothing in it can be fetched; it has \(missed.joined(separator: ", "))"
      )
    }
    manifest.warnings += leftOut.map { $0.reason.diagnostic(naming: $0.names, of: $0.count) }
    return manifest
  }

  static func digests(integrity node: Node?) throws(Failure) -> [ExpectedDigest] {
    guard let node else { return [] }
    do throws(Integrity.Fault) {
      return try Integrity.expectedDigests(in: node.text ?? "")
    } catch {
      throw node.invalid("`integrity` \(error)")
    }
  }

  /// Parses digests keyed by their functions' names; returns nil when one is malformed.
  static func digests(_ node: Node?) -> [ExpectedDigest]? {
    var digests: [ExpectedDigest] = []
    for entry in node?.mapping ?? [] {
      guard let algorithm = DigestAlgorithm(rawValue: entry.key.lowercased()),
        algorithm.isOfBytes
      else { continue }
      guard let text = entry.value.text,
        let digest = DigestText.decode(text, algorithm: algorithm)
      else { return nil }
      digests.append(digest)
    }
    return digests
  }
}
