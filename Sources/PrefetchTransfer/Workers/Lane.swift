internal import CCurl
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
  /// Connection that its request goes over; nil before that is known.
  private(set) var connection: OpenSockets.Connection?
  /// The same of the last request; most of the time it is the next one's too.
  private var latest: OpenSockets.Connection?
  /// Whether the request was held back, since bytes that nobody asked for wait on its connection.
  private(set) var isHeldBack = false
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
  /// Whether a connection was made for what it carries.
  var hasOpenedSocket = false
  /// TLS to the proxy, of the connection that was made last.
  var proxySession: TLSSession?
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
    connection = nil
    isHeldBack = false
    hasOpenedSocket = false
    startedAt = Uptime.wallTime()
    return transfer
  }

  /// Notes that the request is about to go out; false holds it back.
  ///
  /// Bytes that wait on a connection before the request would pass for its answer. Here is the last
  /// place to see them, and the only one that all reuse of connections passes.
  func noteRequest(localPort: Int) -> Bool {
    guard let transfer else { return true }
    let isNew = hasOpenedSocket && handle.number(CURLINFO_NUM_CONNECTS) > 0
    if isNew || latest?.isOpen(from: localPort) != true {
      latest = pool.sockets.connection(
        from: localPort,
        madeFor: isNew ? ObjectIdentifier(self) : nil
      )
    }
    let connection = latest
    self.connection = connection
    if isNew { connection?.proxySession = proxySession }
    // Over HTTP/2 and 3 each frame names its request.
    if !isNew, let connection, connection.isTextual == true, hasUnreadBytes(connection) {
      isHeldBack = true
      handle.forbidReuse(true)
      return false
    }
    transfer.noteRequest()
    return true
  }

  private func hasUnreadBytes(_ connection: OpenSockets.Connection) -> Bool {
    if connection.hasUnreadBytes { return true }
    return transfer?.request.url.scheme == .https && handle.session?.hasUnreadBytes == true
  }

  /// Whether bytes may wait where we cannot look for them: in another library's TLS.
  private var hidesBytes: Bool {
    guard !pool.options.library.hasOurOpenSSL else { return false }
    return isProxyEncrypted || transfer?.request.url.scheme == .https
  }

  /// False ends the transfer.
  func receiveHeader(_ line: RawSpan) -> Bool {
    guard let transfer else { return false }
    // libcurl tells the bytes of a head and a body as they came, and what it finds behind them.
    if !handle.isListening, line.begins(with: "HTTP/1") { handle.listen(true) }
    guard transfer.receiveHeader(line) else { return false }
    guard let version = transfer.version else { return true }
    if let connection, connection.isTextual == nil { connection.isTextual = version.isTextual }
    if hidesBytes, version.isTextual { handle.forbidReuse(true) }
    return true
  }

  /// Notes a line of a head that begins with a blank; whether libcurl must not see that.
  ///
  /// An answer with such a line fails in any case.
  func hidesFoldedLine() -> Bool {
    guard pool.options.library.keepsStaleHeader else { return false }
    transfer?.noteFoldedLine()
    return true
  }

  /// Takes the bytes of a body before libcurl takes chunks apart.
  func noteRawBody(_ bytes: RawSpan) {
    transfer?.noteRawBody(bytes)
  }

  /// Takes what libcurl says of the answer beside handing it out: it drops what comes with the end of
  /// an answer and goes beyond it, and tells so only here.
  func receiveRemark(_ text: RawSpan) {
    guard handle.isListening,
      text.begins(with: "Excess found") || text.begins(with: "Leftovers after chunking")
    else { return }
    transfer?.noteExcess()
    handle.forbidReuse(true)
  }

  /// Takes the head of a request as it goes out.
  func noteSent(_ head: RawSpan) {
    guard isTraced, sent.count + head.byteCount <= Self.longestTrace else { return }
    unsafe head.withUnsafeBytes { unsafe sent.append(contentsOf: $0) }
  }

  private static let longestTrace = 65_536

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
    connection = nil
    if isTraced { sent = [] }
    if trust.hasSeenCertificates { trust = TrustCheck() }
    if addressObjection != nil { addressObjection = nil }
    handle.listen(false)
    handle.forbidReuse(false)
  }
}
