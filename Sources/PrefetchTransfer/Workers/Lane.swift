internal import PrefetchCore

/// One of libcurl's handles with what it carries at the moment.
///
/// libcurl's callbacks and messages find their way back through it.
final class Lane {
  let handle: EasyHandle
  /// Whose connections it uses.
  let pool: ConnectionPool
  /// Nil while nothing is carried.
  private(set) var transfer: RunningTransfer?
  /// The last one, which serves again.
  private var spent: RunningTransfer?
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
  /// Of the connection that its request goes over; 0 before that is known.
  private(set) var localPort = 0
  /// When it took up what it carries, by the calendar.
  private(set) var startedAt = Instant(milliseconds: 0)
  var isPaused = false
  /// When a paused transfer may go on.
  var resumesAt: Duration = .zero
  /// What was found of the connection that was made for what it carries.
  var trust = TrustCheck()
  /// Why no connection was made to an address.
  var addressObjection: Failure?
  /// Whether addresses are looked at, which those of a proxy are not.
  var judgesAddresses = false
  var isProxyEncrypted = false
  /// What is only to be looked at, where nothing is to be carried.
  var probedURL: WebURL?
  /// Heads of what was sent, where the user wants to look into it.
  private var sent: [UInt8] = []

  init(_ pool: ConnectionPool) throws(Failure) {
    self.pool = pool
    handle = try EasyHandle(share: pool.share)
    watch = TransferWatch(settings: pool.options.settings, now: .zero)
    try handle.prepare(pool)
    try handle.attach(self)
    if isTraced { handle.trace() }
  }

  var isTraced: Bool {
    pool.options.settings.isTraced
  }

  /// What was said on the way; nil where that is not traced.
  var trace: TransferTrace? {
    guard isTraced else { return nil }
    return TransferTrace(sent: String(decoding: sent, as: UTF8.self), shown: trust.shown)
  }

  /// The server's name for people.
  var host: String {
    (transfer?.request.url ?? probedURL)?.authority ?? ""
  }

  func load(
    _ queued: QueuedRequest,
    staging: any BodyStaging,
    heldBy rates: RateControl?
  ) -> RunningTransfer {
    let transfer = spent ?? RunningTransfer(queued, staging: staging)
    transfer.restart(queued)
    self.transfer = transfer
    spent = transfer
    origin = queued.assignment.origin
    self.rates = rates
    bookedSize = 0
    localPort = 0
    startedAt = Uptime.wallTime()
    return transfer
  }

  /// Notes that the request goes out now.
  func noteRequest(localPort: Int) {
    transfer?.isRequested = true
    self.localPort = localPort
  }

  /// False ends the transfer.
  func receiveHeader(_ line: RawSpan) -> Bool {
    guard let transfer else { return false }
    guard transfer.receiveHeader(line) else { return false }
    // From here on libcurl would say what it finds behind the answer.
    if let version = transfer.version, version.isTextual { handle.listen(true) }
    return true
  }

  /// Takes what libcurl says of the answer beside handing it out.
  func receiveRemark(_ text: RawSpan) {
    guard handle.isListening, Self.remarksOfExcess.contains(where: { text.begins(with: $0) }) else {
      return
    }
    transfer?.noteExcess()
    handle.forbidReuse(true)
  }

  /// Takes the head of a request as it goes out.
  func noteSent(_ head: RawSpan) {
    guard isTraced, sent.count + head.byteCount <= Self.longestTrace else { return }
    unsafe head.withUnsafeBytes { unsafe sent.append(contentsOf: $0) }
  }

  private static let longestTrace = 65_536

  /// libcurl drops what comes with the end of an answer and goes beyond it, and tells so only here.
  private static let remarksOfExcess: [StaticString] = ["Excess found", "Leftovers after chunking"]

  /// False ends the transfer.
  func receiveBody(_ bytes: RawSpan) -> Bool {
    guard let transfer else { return false }
    guard transfer.receiveBody(bytes) else { return false }
    // Pausing is the one thing that libcurl lets its callbacks do.
    rates?.note(self)
    return true
  }

  func unload() {
    transfer = nil
    if isTraced { sent = [] }
    if trust.hasSeenCertificates { trust = TrustCheck() }
    if addressObjection != nil { addressObjection = nil }
    handle.listen(false)
    handle.forbidReuse(false)
  }
}
