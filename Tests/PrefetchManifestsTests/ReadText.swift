import PrefetchCore

@testable import PrefetchManifests

/// Reads a text as a manifest from a source with these properties.
func readText(
  _ text: String,
  format: ManifestFormat? = nil,
  name: String = "https://cdn.example/lists/LIST",
  base: String? = "https://cdn.example/lists/LIST",
  mime: String? = nil,
  documentRole: FurtherDocument.Role? = nil,
  crossesHosts: Bool = false
) -> Result<Manifest, Failure> {
  var source = ManifestSource(
    bytes: .file("manifest"),
    base: base.flatMap { try? WebURL($0) },
    mime: mime,
    name: name
  )
  source.rules.format = format
  source.rules.mayCrossHosts = crossesHosts
  source.documentRole = documentRole
  return readBytes(Array(text.utf8), source)
}

func readBytes(_ bytes: [UInt8], _ source: ManifestSource) -> Result<Manifest, Failure> {
  do throws(Failure) {
    return .success(try ManifestReader.read(unsafe bytes.span.bytes, source: source))
  } catch {
    return .failure(error)
  }
}

extension Manifest {
  /// Entries, each as a line with its URL and further facts.
  var lines: [String] {
    entries.map(\.line)
  }

  /// Rejected items with their failures.
  var refusals: [String] {
    rejected.map { "\($0.url): \($0.failure.code.rawValue): \($0.failure.message)" }
  }

  /// Entries, rejections and warnings of a document, for tables.
  var everything: [String] {
    lines + refusals + warnings.map { "warning: \($0.message)" }
      + furtherDocuments.map { "part: \($0.url.string)" }
  }
}

extension ManifestEntry {
  fileprivate var line: String {
    var words = [url.string]
    if !isIdentifierMade, let id { words.append("id=\(id)") }
    if let type { words.append("type=\(type)") }
    if let title { words.append("title=\(title)") }
    if let path { words.append("path=\(path)") }
    if let size { words.append("size=\(size)") }
    words += digests.map { "\($0.algorithm.rawValue):\(Hexadecimal.encode($0.bytes.prefix(2)))" }
    if let priority { words.append("priority=\(priority)") }
    if let published { words.append("published=\(Timestamp.format(published))") }
    words += alternates.map { "or \($0.string)" }
    return words.joined(separator: " ")
  }
}
