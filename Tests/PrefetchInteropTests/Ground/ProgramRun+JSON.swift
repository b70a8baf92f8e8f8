import PrefetchCore
import PrefetchDocuments
import Testing

extension ProgramRun {
  /// Returns standard output as a JSON document; anything else fails the test.
  func json(_ location: Testing.SourceLocation = #_sourceLocation) throws -> Node {
    try Node(json: output, location)
  }

  /// The report's numbers by name.
  func totals(_ location: Testing.SourceLocation = #_sourceLocation) throws -> [String: Int] {
    let totals = try json(location)["totals"]?.mapping ?? []
    return Dictionary(uniqueKeysWithValues: totals.map { ($0.key, Int($0.value.text ?? "") ?? -1) })
  }
}

extension Node {
  init(json text: String, _ location: Testing.SourceLocation = #_sourceLocation) throws {
    var limits = DocumentReader.Limits()
    limits.bytes = 64 << 20
    limits.nodes = 10_000_000
    let outcome = DocumentReader.read(
      Array(text.utf8),
      source: "output",
      syntax: .json,
      limits: limits
    )
    #expect(outcome.diagnostics.map(\.message) == [], sourceLocation: location)
    self = try #require(outcome.node, "no JSON: \(text.prefix(400))", sourceLocation: location)
  }

  /// The text of a value without parts; nil for null.
  var text: String? {
    guard let scalar, scalar.kind != .null else { return nil }
    return scalar.text
  }

  /// A value reached by keys and indices, as `exit.code` or `items.0.url`.
  func at(_ path: String) -> Node? {
    var node: Node? = self
    for part in path.split(separator: ".") {
      if let index = Int(part), let list = node?.sequence {
        node = list.indices.contains(index) ? list[index] : nil
      } else {
        node = node?[String(part)]
      }
    }
    return node
  }

  func text(_ path: String) -> String? {
    at(path)?.text
  }

  /// Returns the elements of a list; none when there is no list.
  func list(_ path: String) -> [Node] {
    at(path)?.sequence ?? []
  }

  func number(_ path: String) -> Int? {
    text(path).flatMap { Int($0) }
  }
}
