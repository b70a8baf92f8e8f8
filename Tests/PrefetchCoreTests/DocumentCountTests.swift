import Testing

@testable import PrefetchCore

@Suite("The documents of one manifest")
struct DocumentCountTests {
  private static func manifest(items: Int = 0, bytes: Int64 = 0) -> Manifest {
    var manifest = Manifest()
    manifest.entries.addDuplicates(items)
    manifest.document.bytes = bytes
    return manifest
  }

  @Test("Documents of one manifest have at most ten million items and four gigabytes")
  func bounds() throws {
    var count = DocumentCount()
    try count.add(Self.manifest(items: 9_999_999, bytes: 1 << 32))
    try count.add(Self.manifest(items: 1))
    #expect(
      throws: Failure(
        .manifestInvalid,
        "with it the documents of the manifest list more than 10000000 items together"
      )
    ) { try count.add(Self.manifest(items: 1)) }
    var bytes = DocumentCount()
    try bytes.add(Self.manifest(bytes: 1 << 32))
    #expect(
      throws: Failure(
        .tooLarge,
        "with it the documents of the manifest have more than 4294967296 bytes together"
      )
    ) { try bytes.add(Self.manifest(bytes: 1)) }
    #expect(throws: Failure.self) { try bytes.add(Self.manifest(bytes: .max)) }
  }
}
