import PrefetchCore
import Testing

@Suite("A collector that fails")
struct SendingPauseTests {
  private let now = Instant(seconds: 1_800_000_000)

  @Test("A collector that fails gets pauses of twice the length each time, up to six hours")
  func doubles() {
    var pause = SendingPause()
    #expect(pause.isOver(at: now))
    var lengths: [Duration] = []
    for _ in 0..<30 {
      pause = pause.afterFailure(at: now, retryAfter: nil)
      lengths.append((pause.until ?? now) - now)
    }
    #expect(lengths.prefix(4) == [.seconds(60), .seconds(120), .seconds(240), .seconds(480)])
    #expect(lengths.last == .seconds(21_600) && pause.failures == 17)
  }

  @Test("A collector that fails gets the pause that it asks for")
  func serverPause() {
    let pause = SendingPause().afterFailure(at: now, retryAfter: .seconds(3600))
    #expect(!pause.isOver(at: now + .seconds(3599)))
    #expect(pause.isOver(at: now + .seconds(3600)))
    #expect(
      SendingPause().afterFailure(at: now, retryAfter: .seconds(1)).until == now + .seconds(60)
    )
  }

  @Test("The pause of a collector ends when the clock was set back")
  func clock() {
    let pause = SendingPause().afterFailure(at: now, retryAfter: .seconds(3600))
    #expect(pause.isOver(at: now + .seconds(-1)))
  }
}
