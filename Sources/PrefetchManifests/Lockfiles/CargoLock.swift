internal import PrefetchCore
internal import PrefetchDocuments

/// Reads Cargo.lock: the crates of a build, at the addresses of their registry.
enum CargoLock {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try LockDocument.read(bytes, syntax: .toml)
    var reader = CargoLockReader(
      download: try CrateAddressText(source.rules.crateDownload),
      index: source.rules.crateIndex,
      checksums: root["metadata"]
    )
    for package in try LockDocument.packages("package", of: root) { reader.read(package) }
    return try reader.finished()
  }
}

private struct CargoLockReader {
  let download: CrateAddressText
  /// Configured registry index, which alone states the crates' dependencies and features.
  let index: WebURL?
  /// Checksums of the format's first version, which later versions write in each package.
  let checksums: Node?
  private var draft = ManifestDraft()
  /// Versions of each crate by the name of its index file; `indexed` holds their order.
  private var versions: [String: [String]] = [:]
  private var indexed: [String] = []

  init(download: CrateAddressText, index: WebURL?, checksums: Node?) {
    self.download = download
    self.index = index
    self.checksums = checksums
  }

  mutating func read(_ package: Node) {
    let name = package.member("name")?.text ?? ""
    let version = package.member("version")?.text ?? ""
    guard LockDocument.isAlphanumeric(name, with: "-_", atMost: 128),
      LockDocument.isAlphanumeric(version, with: "-_.+", atMost: 128),
      version.utf8.first != UInt8(ascii: ".")
    else {
      let message = "a package is a table with a `name` and a `version`"
      return draft.reject(name, package.invalid(message))
    }
    // Packages of the workspace itself have no source.
    guard let source = package.member("source")?.text else { return }
    guard source.hasPrefix("registry+") || source.hasPrefix("sparse+") else {
      return draft.leaveOut("\(name) \(version)", .unpublished("from version control"))
    }
    guard download.isOfAll || Self.publicIndexes.contains(source) else {
      return draft.leaveOut(
        "\(name) \(version)",
        LeftOut(
          CountedNoun("crate"),
          "of `\(source)`",
          cure: "give it a segment with `cargo: { index: URL, download: URL }`"
        )
      )
    }
    let id = "\(name)@\(version)"
    let key = "checksum \(name) \(version) (\(source))"
    let checksum = package.member("checksum") ?? checksums?.member(key)
    do throws(Failure) {
      guard let text = checksum?.text, let digest = DigestText.decode(text, algorithm: .sha256)
      else {
        let message = "`\(id)` has no checksum, 64 hexadecimal digits"
        throw (checksum ?? package).invalid(message)
      }
      var entry = ManifestEntry(url: try download.url(name, version, checksum: text))
      entry.digests = [digest]
      entry.lifetime = .immutable
      entry.path = "\(name)-\(version).crate"
      draft.add(entry, named: id)
      recordVersion(name, version)
    } catch {
      draft.reject(id, id: id, error)
    }
  }

  // MARK: The index

  private mutating func recordVersion(_ name: String, _ version: String) {
    let name = name.lowercased()
    guard index != nil else { return }
    if versions[name] == nil { indexed.append(name) }
    versions[name, default: []].append(version)
  }

  consuming func finished() throws(Failure) -> Manifest {
    if let index {
      for name in indexed { add(name, from: index) }
    }
    return try draft.finished()
  }

  /// Adds a crate's index file, which grows with every release of the crate.
  ///
  /// A stored copy stays fresh while the lock file names the same versions.
  private mutating func add(_ name: String, from index: WebURL) {
    let path = "\(CrateAddressText.prefix(of: name))/\(name)"
    let folder = index.path.hasSuffix("/") ? index.path : index.path + "/"
    do {
      var entry = ManifestEntry(url: try index.resolving(folder + path))
      entry.lifetime = .immutable
      entry.revision = (versions[name] ?? []).sorted().joined(separator: " ")
      entry.path = "index/\(path)"
      draft.add(entry, named: entry.path)
    } catch {
      draft.reject(name, id: name, Failure(.badURL, "its file in the index \(error)"))
    }
  }

  private static let publicIndexes: Set<String> = [
    "registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/",
  ]
}

/// Template of a crate's download address, with the markers that registries use.
private struct CrateAddressText {
  /// Whether the template is configured and so applies to every registry.
  let isOfAll: Bool
  private let text: String

  init(_ configured: String?) throws(Failure) {
    isOfAll = configured != nil
    let text = configured ?? "https://static.crates.io/crates/{crate}/{crate}-{version}.crate"
    // Cargo appends the same path when the template has no marker.
    self.text =
      text.contains("{")
      ? text
      : (text.hasSuffix("/") ? String(text.dropLast()) : text) + "/{crate}/{version}/download"
  }

  func url(_ crate: String, _ version: String, checksum: String) throws(Failure) -> WebURL {
    let prefix = Self.prefix(of: crate)
    let words = [
      ("{crate}", crate), ("{version}", Hexadecimal.encodePercent(version)), ("{prefix}", prefix),
      ("{lowerprefix}", prefix.lowercased()), ("{sha256-checksum}", checksum),
    ]
    let address = words.reduce(text) { $0.replacing($1.0, with: $1.1) }
    do throws(WebURL.Fault) {
      return try WebURL(address)
    } catch {
      throw Failure(.badURL, "`\(address)` \(error)")
    }
  }

  static func prefix(of crate: String) -> String {
    switch crate.utf8.count {
    case 1: "1"
    case 2: "2"
    case 3: "3/\(crate.prefix(1))"
    default: "\(crate.prefix(2))/\(crate.dropFirst(2).prefix(2))"
    }
  }
}
