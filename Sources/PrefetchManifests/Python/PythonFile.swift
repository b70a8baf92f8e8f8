internal import PrefetchCore
internal import PrefetchDocuments

struct PythonFile {
  var name: String
  var url: WebURL
  var digests: [ExpectedDigest]
  var size: Int64?
  var published: Instant?
  /// Whether the lock file names the file as the package's archive, not as one of several builds.
  var isArchive = false

  /// Returns every matching wheel, else all that are no wheels; always archives.
  ///
  /// Without configured platforms and Python versions all files are returned.
  static func chosen(_ files: [Self], for platforms: PlatformFilter) -> [Self] {
    if platforms.targets == nil, platforms.pythons.isEmpty { return files }
    let wheels = files.filter { WheelName($0.name).map(platforms.admits) ?? false }
    return wheels.isEmpty
      ? files.filter { !$0.name.lowercased().hasSuffix(".whl") }
      : files.filter(\.isArchive) + wheels
  }

  mutating func readFacts(_ node: Node) throws(Failure) {
    if let size = node.member("size") {
      guard let bytes = size.integer, bytes >= 0 else {
        throw size.invalid("`size` must be a number of bytes")
      }
      self.size = bytes
    }
    published = node.member("upload-time")?.text.flatMap { Timestamp.parse($0) }
  }

  /// Returns the entry; its file name must be safe, since pip finds files by name.
  func entry() throws(Failure) -> ManifestEntry {
    guard FileName.isSafe(name) else {
      throw PublishedName.objection(to: name)
    }
    var entry = ManifestEntry(url: url)
    entry.digests = digests
    entry.size = size
    entry.published = published
    entry.lifetime = .immutable
    entry.path = name
    return entry
  }
}

extension ManifestDraft {
  mutating func add(
    _ files: [PythonFile],
    of package: Node,
    named name: String,
    for platforms: PlatformFilter
  ) {
    let chosen = PythonFile.chosen(files, for: platforms)
    if chosen.isEmpty, !files.isEmpty {
      let message =
        "none of its \(CountedNoun("file").text(files.count)) is for a wanted platform"
      reject(name, id: name, package.invalid(message))
    }
    for file in chosen {
      do throws(Failure) {
        add(try file.entry(), named: file.name)
      } catch {
        reject(file.url.string, id: file.name, error)
      }
    }
  }
}
