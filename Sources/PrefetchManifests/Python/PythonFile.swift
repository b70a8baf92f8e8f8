internal import PrefetchCore

/// A file of a Python project, as a lock file or an index tells it.
struct PythonFile {
  var name: String
  var url: WebURL
  var digests: [ExpectedDigest]
  var size: Int64?
  var published: Instant?

  /// Of several that will do, those to take: every wheel that fits, or else all that is no wheel.
  static func chosen(_ files: [Self], for platforms: PlatformFilter) -> [Self] {
    if platforms.targets == nil, platforms.pythons.isEmpty { return files }
    let wheels = files.filter { WheelName($0.name).map(platforms.admits) ?? false }
    return wheels.isEmpty ? files.filter { !$0.name.lowercased().hasSuffix(".whl") } : wheels
  }

  /// What it is called is what pip finds it by.
  func entry() throws(Failure) -> ManifestEntry {
    guard FileName.isSafe(name) else {
      throw Failure(.unsafeName, "its name is none that a file can have in a folder")
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
