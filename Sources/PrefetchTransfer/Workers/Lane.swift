internal import PrefetchCore

/// One of libcurl's handles with what it carries at the moment.
///
/// libcurl's callbacks and messages find their way back through it.
final class Lane {
  let handle: EasyHandle
  /// Nil while nothing is carried.
  private(set) var exchange: WireExchange?
  var watch: TransferWatch
  /// The origin that the handle asked last.
  private(set) var origin = -1
  /// Where it stands among the running ones.
  var position = 0
  /// Whether it counts among those that keep the worker from sleeping long.
  var mayShareConnection = false
  /// What holds it to a rate, nil where nothing does.
  private(set) var rates: RateControl?
  /// How much of what arrived was booked against a rate.
  var bookedSize: Int64 = 0
  var isPaused = false
  /// When a paused transfer may go on.
  var resumesAt: Duration = .zero

  init(_ options: RequestOptions) throws(Failure) {
    handle = try EasyHandle()
    watch = TransferWatch(settings: options.settings, now: .zero)
    try handle.prepare(options)
    try handle.attach(self)
  }

  func load(_ exchange: WireExchange, origin: Int, heldBy rates: RateControl?) {
    self.exchange = exchange
    self.origin = origin
    self.rates = rates
    bookedSize = 0
  }

  /// False ends the transfer.
  func receiveBody(_ bytes: RawSpan) -> Bool {
    guard let exchange else { return false }
    if exchange.isDecoding {
      exchange.wireSize = handle.wireSize
    }
    guard exchange.receiveBody(bytes) else { return false }
    // Pausing is the one thing that libcurl lets its callbacks do.
    rates?.note(self)
    return true
  }

  func unload() {
    exchange = nil
  }
}
