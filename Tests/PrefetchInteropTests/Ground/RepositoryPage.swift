import PrefetchDocuments
import Testing

/// Files of the repository that tests hold the program to.
enum RepositoryPage {
  /// Returns the absolute path of a file in the repository.
  static func path(_ name: String) -> String {
    let top = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    return "\(top)/\(name)"
  }

  /// The JSON Schema of a document.
  static func schema(_ name: String) throws -> Node {
    let file = path("man/prefetch-\(name).schema.json")
    let bytes = try #require(FileTree.read(file), "\(file)")
    return try Node(json: String(decoding: bytes, as: UTF8.self))
  }
}
