import Testing

@testable import PrefetchManifests

@Suite("The values of a JSON text") struct JSONValueCountTests {
  @Test(
    "The values of a JSON text are counted without a tree",
    arguments: [
      ("{}", 1), ("[]", 1), ("[ ]", 1), ("[1]", 2), ("[1,2,3]", 4), ("{\"a\":1,\"b\":[1,2]}", 5),
      ("[\"a,[{\\\"\", {}]", 3), ("[[],[[1]]]", 5), ("\"\"", 1),
    ]
  )
  func counts(text: String, count: Int) {
    // Texts too short to hold more than the limit are not counted.
    let padding = [UInt8](repeating: 0x20, count: 64)
    #expect(JSONValueCount.of(Array(text.utf8) + padding, upTo: 20) == count)
  }

  @Test("The values of a JSON text are counted up to the limit only")
  func limit() {
    let text = Array("[\(String(repeating: "1,", count: 100))1]".utf8)
    #expect(JSONValueCount.of(text, upTo: 10) == 11)
  }
}
