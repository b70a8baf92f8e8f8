import PrefetchDocuments
import Testing

/// Parses a document; any diagnostic fails the test.
func readJSON(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws -> Node {
  let outcome = DocumentReader.read(bytes, source: "document", syntax: .json)
  #expect(outcome.diagnostics.isEmpty, sourceLocation: sourceLocation)
  return try #require(outcome.node, sourceLocation: sourceLocation)
}
