import PrefetchDocuments
import Testing

/// Documents as tests read them: JSON without a single complaint.
func readJSON(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws -> Node {
  let outcome = DocumentReader.read(bytes, source: "document", syntax: .json)
  #expect(outcome.diagnostics.isEmpty, sourceLocation: sourceLocation)
  return try #require(outcome.node, sourceLocation: sourceLocation)
}
