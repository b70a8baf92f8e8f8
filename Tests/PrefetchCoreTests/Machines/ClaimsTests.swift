import PrefetchCore
import Testing

@testable import PrefetchCore

/// Claims of items against other runs on the same cache.
@Suite("Claims")
struct ClaimsTests {
  @Test("A run without other runs claims and releases nothing")
  func alone() {
    var claims = Claims()
    #expect(!claims.hasOtherRuns && !claims.lacksClaim(0))
    #expect(!claims.end(0) && claims.drainReleased().isEmpty)
  }

  @Test("Transfers in flight are claimed when another run arrives, and later ones need a claim")
  func otherRun() {
    var claims = Claims()
    claims.begin(with: [1, 2])
    #expect((0..<4).map(claims.lacksClaim) == [true, false, false, true])
    claims.add(3)
    #expect(!claims.lacksClaim(3))
  }

  @Test("A claim ends once, and its release is published once")
  func releasedOnce() {
    var claims = Claims()
    claims.begin(with: [1])
    let ended = claims.end(1)
    #expect(ended && claims.lacksClaim(1))
    let endedAgain = claims.end(1)
    #expect(!endedAgain)
    claims.release("https://a.example/1")
    claims.release("https://a.example/list.json")
    #expect(claims.drainReleased() == ["https://a.example/1", "https://a.example/list.json"])
    #expect(claims.drainReleased().isEmpty)
  }

  @Test(
    "An item of another run is looked up again soon, until the wait is too long",
    arguments: [(0, true), (59, true), (60, false), (61, false)]
  )
  func waiting(seconds: Int, isWorth: Bool) {
    let pause = Claims.pause(since: .zero, now: .seconds(seconds), limit: .seconds(60))
    #expect(pause == (isWorth ? .milliseconds(50) : nil))
  }
}
