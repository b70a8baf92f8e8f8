import PrefetchCore
import Testing

@testable import PrefetchCore

/// First segment that names a URL, and the outcome of its item.
@Suite("Items that several segments name")
struct SharedItemsTests {
  private static func result(_ failure: Failure? = nil) -> ItemResult {
    var result = ItemResult(
      url: "https://a.example/",
      id: "a",
      segments: ["s"],
      state: .cached,
      action: .keep,
      reason: ""
    )
    result.isUsable = true
    result.size = 9
    result.digest = ContentDigest(first: 1, second: 2, third: 3, fourth: 4)
    result.failure = failure
    return result
  }

  @Test("The first mention of a URL is returned to all later ones")
  func mentions() {
    var declared = DeclaredURLs()
    let (one, other) = (URLKey("https://a.example/1"), URLKey("https://a.example/2"))
    #expect(declared.recordMention(one, segment: 3, entry: 5) == nil)
    #expect(declared.recordMention(other, segment: 3, entry: 6) == nil)
    let mention = declared.recordMention(one, segment: 4, entry: 0)
    #expect(mention?.segment == 3 && mention?.entry == 5 && mention?.item == -1)
    declared.set(item: 7, for: one, unlessKnown: true)
    declared.set(item: 8, for: one, unlessKnown: true)
    #expect(declared.recordMention(one, segment: 4, entry: 0)?.item == 7)
    declared.set(item: 8, for: one, unlessKnown: false)
    #expect(declared.recordMention(one, segment: 4, entry: 0)?.item == 8)
    declared.set(item: 9, for: URLKey("unknown"), unlessKnown: false)
  }

  @Test("An outcome is repeated as it was, with its failure")
  func ends() {
    var settled = SettledItems()
    let failure = Failure(.gone, "the server answered 404")
    settled.recordResult(Self.result(), of: 2)
    settled.recordResult(Self.result(failure), of: 0)
    var reported = Self.result()
    reported.isUsable = false
    #expect(settled.complete(&reported, of: 2) == true)
    #expect(reported.isUsable && reported.size == 9 && reported.failure == nil)
    #expect(settled.complete(&reported, of: 0) == true)
    #expect(reported.failure == failure && settled.failure(of: 0) == failure)
    #expect(settled.complete(&reported, of: 1) == false)
    #expect(settled.complete(&reported, of: 99) == false)
    #expect(settled.digest(of: 2) == Self.result().digest && settled.digest(of: 99) == nil)
    settled.require(2)
    _ = settled.complete(&reported, of: 2)
    #expect(reported.isRequired)
  }

  @Test("The `Vary` and `no-store` of settled responses are remembered")
  func results() {
    var settled = SettledItems()
    settled.recordHeaders(HeaderBlock([HeaderField("Cache-Control", "max-age=9")]), of: 1)
    settled.recordHeaders(HeaderBlock([HeaderField("Cache-Control", "no-store")]), of: 2)
    #expect(!settled.saysNoStore(1) && settled.saysNoStore(2))
    #expect(settled.selecting(of: 1) == [])
  }
}
