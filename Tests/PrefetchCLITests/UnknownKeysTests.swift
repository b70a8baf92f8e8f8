import PrefetchCore
import PrefetchDocuments
import PrefetchManifests
import Testing

@Suite("Keys that a native manifest may have")
struct UnknownKeysTests {
  private func unknown(_ text: String) -> [Diagnostic] {
    let source = ManifestSource(bytes: .file("m"), base: nil, mime: nil, name: "m")
    return unsafe ManifestReader.unknownKeys(in: Array(text.utf8).span.bytes, source: source)
  }

  private func object(_ keys: [String], _ more: String = "") -> String {
    "{" + keys.map { "\"\($0)\": null" }.joined(separator: ", ") + more + "}"
  }

  @Test("The keys of a native manifest are those of its schema")
  func schema() throws {
    let file = RepositoryFile.top("man/prefetch-manifest.schema.json")
    let bytes = Array(try #require(file.read()).utf8)
    let schema = try #require(
      DocumentReader.read(bytes, source: "schema", syntax: .json).node
    )
    func keys(_ node: Node?) -> [String] { node?["properties"]?.mapping?.map(\.key) ?? [] }
    let definitions = schema["$defs"]
    let lists: Set = ["items", "network", "policy", "format"]
    let top = keys(schema).filter { !lists.contains($0) }
    let item = keys(definitions?["item"]).filter { $0 != "network" }
    let network = keys(definitions?["network"])
    #expect(top.count > 8 && item.count > 20 && network.count > 8)
    let text = object(
      top,
      """
      , "format": "prefetch-manifest", "policy": \(object(network)),
      "items": [\(object(item, ", \"network\": {\"allow\": null}"))]
      """
    )
    #expect(unknown(text).map(\.message) == [])
    // With an additional letter every key is unknown.
    let spoilt = text.replacing("\":", with: "q\":").replacing("formatq", with: "format")
      .replacing("itemsq", with: "items").replacing("policyq", with: "policy")
    let found = unknown(spoilt)
    #expect(found.count == 20 && found.allSatisfy { $0.severity == .warning })
  }

  @Test(
    "Private keys and keys in free objects are accepted, and other texts have no unknown keys",
    arguments: [
      #"{"format": "prefetch-manifest", "$schema": "", "x-a": 1, "x_b": [{"y": 1}], "items": []}"#,
      #"{"format": "prefetch-manifest", "items": [{"url": "a", "headers": {"any": "thing"}}]}"#,
      #"{"format": "prefetch-manifest", "items": [{"url": "a", "digests": {"blake3": "x"}}]}"#,
      #"{"format": "prefetch-manifest", "items": [{"url": "a", "\u0065tag": "x"}]}"#,
      #"{"format": "prefetch-manifest", "items": ["a", {"#, #"{"other": 1}"#, "", "a\nb\n",
    ]
  )
  func none(_ text: String) {
    #expect(unknown(text).map(\.message) == [])
  }
}
