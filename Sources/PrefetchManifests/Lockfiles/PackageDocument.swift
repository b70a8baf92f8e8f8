internal import PrefetchCore
internal import PrefetchDocuments

/// Reads the dates of a package's versions from its document in an npm registry.
enum PackageDocument {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    let root = try NativeManifest.parse(unsafe bytes.withUnsafeBytes { unsafe Array($0) })
    guard case .dates(let versions) = source.documentRole, let times = root["time"]?.mapping else {
      throw root.invalid("`time` must be a mapping of versions to dates")
    }
    let wanted = Dictionary(versions.map { ($0.version, $0.url) }) { first, _ in first }
    var draft = ManifestDraft()
    for time in times {
      guard let url = wanted[time.key], let date = time.value.text.flatMap({ Timestamp.parse($0) })
      else { continue }
      var entry = ManifestEntry(url: url)
      entry.published = date
      draft.add(entry)
    }
    return try draft.finished(asFurtherDocument: true)
  }
}
