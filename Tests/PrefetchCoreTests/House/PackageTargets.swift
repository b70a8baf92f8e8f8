/// Targets of the package with their dependencies, as its manifest declares them.
struct PackageTargets {
  private(set) var dependencies: [String: Set<String>] = [:]

  /// `library("A", ["B"])` and `.executableTarget(name: "A", dependencies: ["B"])`.
  init(manifest: String) {
    for opening in ["\n    library(", "\n    .executableTarget("] {
      var rest = manifest[...]
      while let start = rest.firstRange(of: opening) {
        rest = rest[start.upperBound...]
        let call = rest.prefix { $0 != ")" }
        // Test targets may depend on any target.
        guard !call.contains("path: \"Tests/") else { continue }
        // Every second piece was between quotes.
        let words = call.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
          .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
        if let name = words.first { dependencies[name] = Set(words.dropFirst()) }
      }
    }
  }
}
