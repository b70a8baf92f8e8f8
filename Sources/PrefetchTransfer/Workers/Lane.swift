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

  init(_ settings: TransportSettings, library: LibraryVersion) throws(Failure) {
    handle = try EasyHandle()
    watch = TransferWatch(settings: settings, now: .zero)
    try handle.prepare(settings, library: library)
    try handle.attach(self)
  }

  func load(_ exchange: WireExchange, origin: Int) {
    self.exchange = exchange
    self.origin = origin
  }

  func unload() {
    exchange = nil
  }
}
