import PrefetchCore
import Testing

@Suite("Ranges of one body")
struct RangeMapTests {
  private static func part(_ offset: Int64, _ spans: [Range<Int64>]) -> PartialBody {
    var part = PartialBody(source: "https://a.example/", validator: "\"a\"", offset: offset)
    part.spans = spans
    return part
  }

  private func bounds(_ map: RangeMap) -> [Range<Int64>] {
    map.spans.map { $0.start..<$0.end }
  }

  @Test("A further connection gets the second half of the largest gap")
  func halves() {
    var map = RangeMap(size: 1_000, received: 200)
    #expect(map.nextRange(smallest: 10) == 600..<1_000)
    map.begin(at: 600)
    map.receive(100, in: 600)
    #expect(map.limit(of: 0) == 600)
    #expect(map.nextRange(smallest: 10) == 400..<600)
    map.begin(at: 400)
    #expect(map.nextRange(smallest: 10) == 850..<1_000)
    #expect(map.nextRange(smallest: 151) == nil)
    #expect(map.limit(of: 400) == 600)
    #expect(map.receivedSize == 300)
    #expect(map.contiguousSize == 200)
  }

  @Test("A gap that no connection fetches is requested first, and whole")
  func orphans() {
    var map = RangeMap(size: 1_000, received: 200)
    map.begin(at: 600)
    map.receive(50, in: 600)
    map.stop(600)
    #expect(map.nextRange(smallest: 500) == 650..<1_000)
    map.begin(at: 650)
    map.stop(650)
    #expect(bounds(map) == [0..<200, 600..<650], "an empty span is no span")
    map.stop(0)
    #expect(map.nextRange(smallest: 500) == 200..<600)
  }

  @Test("A body is complete when its spans touch from the first byte to the last")
  func complete() {
    var map = RangeMap(size: 300, received: 100)
    map.begin(at: 200)
    map.receive(100, in: 200)
    #expect(!map.isComplete)
    #expect(map.isLed(by: 0))
    map.receive(100, in: 0)
    #expect(map.isComplete)
    #expect(map.contiguousSize == 300)
    #expect(map.nextRange(smallest: 1) == nil)
  }

  @Test("A connection whose others are forgotten may bring all that follows")
  func forgotten() {
    var map = RangeMap(size: 300, received: 100)
    map.begin(at: 200)
    map.receive(10, in: 200)
    map.forget(except: 0)
    #expect(map.limit(of: 0) == 300)
    #expect(bounds(map) == [0..<100])
  }

  @Test(
    "A part with holes asks for the first of them",
    arguments: [
      (part(5, []), 5, nil), (part(5, [7..<9]), 5, 7), (part(5, [5..<9]), 9, nil),
      (part(5, [5..<7, 7..<9, 11..<20]), 9, 11),
    ] as [(PartialBody, Int64, Int64?)]
  )
  func holes(_ part: PartialBody, _ start: Int64, _ end: Int64?) {
    #expect(part.firstHole.start == start)
    #expect(part.firstHole.end == end)
    let map = RangeMap(size: 20, keeping: part)
    #expect(map.receivedSize == part.keptSize)
    #expect(map.contiguousSize == start)
  }

  @Test("A response fills a hole only with exactly its bytes of the same body")
  func responses() {
    var part = Self.part(5, [7..<9])
    part.wholeSize = 20
    let objection = { (range: String, tag: String) in
      ResumeRule.objection(
        to: HeaderBlock([HeaderField("Content-Range", range), HeaderField("ETag", tag)]),
        continuing: part
      )
    }
    #expect(objection("bytes 5-6/20", "\"a\"") == nil)
    #expect(objection("bytes 5-6/*", "\"a\"") == nil)
    #expect(objection("bytes 5-19/20", "\"a\"") == .otherSize)
    #expect(objection("bytes 5-5/20", "\"a\"") == .otherSize)
    #expect(objection("bytes 4-6/20", "\"a\"") == .otherPart)
    #expect(objection("bytes 5-6/21", "\"a\"") == .otherSize)
    #expect(objection("bytes 5-6/20", "\"b\"") == .otherBody)
    #expect(ResumeRule.wholeSize(of: part, by: HeaderBlock()) == 20)
    let unsatisfied = HeaderBlock([HeaderField("Content-Range", "bytes */5")])
    #expect(!ResumeRule.isWhole(part, by: unsatisfied))
  }
}
