import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchTransfer

@Suite("Watching for stalls and overtime")
struct TransferWatchTests {
  private let transfer: RunningTransfer
  private var settings = TransportSettings(userAgent: "test")

  init() throws {
    let request = TransferRequest(id: TransferID(1), url: try WebURL("http://example.com/"))
    let assignment = HostShares.Assignment(origin: 0, worker: 0, connections: 1, streams: 1)
    transfer = RunningTransfer(
      QueuedRequest(request, assignment),
      staging: MemoryStaging(),
      ranges: RangeLimits()
    )
    settings.readTimeout = .seconds(30)
  }

  @Test("A queued transfer is never overdue")
  func waiting() {
    var watch = TransferWatch(settings: settings, now: .zero)
    #expect(watch.update(transfer, at: .seconds(900)) == 0)
    #expect(watch.overdue(transfer, at: .seconds(900)) == nil)
  }

  @Test("Silence counts from the request, or from the last bytes")
  func silence() {
    var watch = TransferWatch(settings: settings, now: .zero)
    transfer.recordRequest()
    _ = watch.update(transfer, at: .seconds(100))
    #expect(watch.overdue(transfer, at: .seconds(129)) == nil)
    #expect(watch.overdue(transfer, at: .seconds(130))?.code == .stalled)
    transfer.hasActivity = true
    _ = watch.update(transfer, at: .seconds(129))
    #expect(watch.overdue(transfer, at: .seconds(158)) == nil)
    _ = watch.update(transfer, at: .seconds(158))
    #expect(watch.overdue(transfer, at: .seconds(159))?.code == .stalled)
  }

  @Test("The item's time counts from the request, whatever arrives")
  func overtime() {
    var settings = settings
    settings.itemTimeout = .seconds(60)
    var watch = TransferWatch(settings: settings, now: .zero)
    transfer.recordRequest()
    _ = watch.update(transfer, at: .seconds(50))
    for second in stride(from: 55, through: 105, by: 5) {
      transfer.hasActivity = true
      _ = watch.update(transfer, at: .seconds(second))
    }
    #expect(watch.overdue(transfer, at: .seconds(109)) == nil)
    #expect(watch.overdue(transfer, at: .seconds(110))?.code == .timeout)
  }

  @Test(
    "The watch runs often enough for a quarter's accuracy, and rarely enough to be cheap",
    arguments: [(60, 15), (4, 5), (30_000, 100)]
  )
  func interval(timeout: Int, expected: Int) {
    var settings = settings
    settings.readTimeout = .milliseconds(timeout)
    #expect(TransferWatch.interval(settings) == .milliseconds(expected))
  }
}
