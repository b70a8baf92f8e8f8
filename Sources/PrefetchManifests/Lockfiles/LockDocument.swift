internal import PrefetchCore
internal import PrefetchDocuments

/// A lock file as a tree.
enum LockDocument {
  static func read(
    _ bytes: RawSpan,
    syntax: DocumentReader.Syntax
  ) throws(Failure) -> Node {
    var limits = DocumentReader.Limits()
    limits.bytes = .max
    limits.depth = NativeManifest.maximumDepth
    limits.nodes = NativeManifest.maximumNodes
    let content = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    let reading = DocumentReader.read(content, source: "manifest", syntax: syntax, limits: limits)
    if let problem = reading.diagnostics.first(where: { $0.severity == .error }) {
      throw NativeManifest.invalid(problem.message, at: problem.location)
    }
    guard let root = reading.node else { throw Failure(.manifestInvalid, "it is empty") }
    return root
  }
}
