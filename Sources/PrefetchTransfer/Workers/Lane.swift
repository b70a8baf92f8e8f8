internal import CCurl
internal import PrefetchCore

/// A libcurl handle and its present transfer; libcurl's callbacks refer to the lane.
final class Lane {
  let handle: EasyHandle
  let pool: ConnectionPool
  private(set) var transfer: RunningTransfer?
  private var spent: RunningTransfer?
  var watch: TransferWatch
  private(set) var origin = -1
  var position = 0
  /// Whether the lane keeps the worker from long sleeps, see `multiplexedWait`.
  var mayShareConnection = false
  private(set) var rates: RateControl?
  /// Received bytes already charged to a rate.
  var chargedSize: Int64 = 0
  /// Rate of the transfer, see ``HostRates``.
  var pace: RateWindow
  private(set) var connection: OpenSockets.Connection?
  /// Connection of the last request, mostly used for the next one too.
  private var latest: OpenSockets.Connection?
  /// Whether the request was not sent because unsolicited bytes wait on its connection.
  private(set) var isWithheld = false
  private(set) var startedAt = Instant(milliseconds: 0)
  var isPaused = false {
    didSet { wasPaused = wasPaused || isPaused }
  }
  private var wasPaused = false
  /// Uptime at which a paused transfer may continue.
  var resumesAt: Duration = .zero
  var trust = TrustCheck()
  var addressObjection: Failure?
  /// Whether addresses are checked; not those of a proxy.
  var judgesAddresses = false
  var isProxyEncrypted = false
  var hasOpenedSocket = false
  var proxySession: TLSSession?
  var probedURL: WebURL?
  private var sent: [UInt8] = []

  init(_ pool: ConnectionPool) throws(Failure) {
    self.pool = pool
    handle = try EasyHandle(share: pool.share)
    watch = TransferWatch(settings: pool.options.settings, now: .zero)
    pace = RateWindow(pool.options.settings.ranges.window)
    try handle.prepare(pool)
    try handle.attach(self)
    if isTraced { handle.trace() }
  }

  var isTraced: Bool {
    pool.options.settings.isTraced
  }

  var trace: TransferTrace? {
    guard isTraced else { return nil }
    return TransferTrace(sent: String(decoding: sent, as: UTF8.self), shown: trust.shown)
  }

  var host: String {
    (transfer?.request.url ?? probedURL)?.authority ?? ""
  }

  func load(
    _ queued: QueuedRequest,
    staging: any BodyStaging,
    heldBy rates: RateControl?
  ) -> RunningTransfer {
    let settings = pool.options.settings
    let transfer = spent ?? RunningTransfer(queued, staging: staging, ranges: settings.ranges)
    transfer.restart(queued)
    self.transfer = transfer
    spent = transfer
    origin = queued.assignment.origin
    self.rates = rates
    chargedSize = 0
    pace = RateWindow(settings.ranges.window)
    connection = nil
    isWithheld = false
    hasOpenedSocket = false
    startedAt = Uptime.wallTime()
    return transfer
  }

  /// Records that the request is about to be sent; returns false to hold it back.
  ///
  /// Bytes that wait on a connection would pass for the response; no later place sees them.
  func willSend(localPort: Int) -> Bool {
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
    // In HTTP/2 and HTTP/3, each frame names its request.
    if !isNew, let connection, connection.isTextual == true, hasUnreadBytes(connection) {
      isWithheld = true
      handle.forbidReuse(true)
      return false
    }
    transfer.recordRequest()
    return true
  }

  private func hasUnreadBytes(_ connection: OpenSockets.Connection) -> Bool {
    if connection.hasUnreadBytes { return true }
    return transfer?.request.url.scheme == .https && handle.session?.hasUnreadBytes == true
  }

  /// Whether another TLS library may hold bytes that cannot be checked.
  private var hidesBytes: Bool {
    guard !pool.options.library.hasOurOpenSSL else { return false }
    return isProxyEncrypted || transfer?.request.url.scheme == .https
  }

  func receiveHeader(_ line: RawSpan) -> Bool {
    guard let transfer else { return false }
    // libcurl then reports raw bytes of heads and bodies, and bytes after a response.
    if !handle.isListening, line.begins(with: "HTTP/1") { handle.listen(true) }
    // A status line of HTTP/2 alone would spare a connection the checks of HTTP/1.
    if line.begins(with: "HTTP/2"), connection?.isTextual != false,
      handle.session?.hasNegotiatedHTTP2 == false
    {
      transfer.mayShareConnection = false
    }
    guard transfer.receiveHeader(line) else { return false }
    guard let version = transfer.version else { return true }
    if let connection, connection.isTextual == nil { connection.isTextual = version.isTextual }
    if hidesBytes, version.isTextual { handle.forbidReuse(true) }
    return true
  }

  /// Records a header line that begins with a blank; returns whether to hide it from libcurl.
  func hidesFoldedLine() -> Bool {
    guard pool.options.library.keepsStaleHeader else { return false }
    transfer?.recordFoldedLine()
    return true
  }

  func checkRawBody(_ bytes: RawSpan) {
    transfer?.checkRawBody(bytes)
  }

  /// Reads libcurl's remarks: only these report bytes after a response, which libcurl drops.
  func receiveRemark(_ text: RawSpan) {
    guard handle.isListening,
      text.begins(with: "Excess found") || text.begins(with: "Leftovers after chunking")
    else { return }
    transfer?.recordExcess()
    handle.forbidReuse(true)
  }

  func recordSentHead(_ head: RawSpan) {
    guard isTraced, sent.count + head.byteCount <= Self.longestTrace else { return }
    unsafe head.withUnsafeBytes { unsafe sent.append(contentsOf: $0) }
  }

  private static let longestTrace = 65_536

  func receiveBody(_ bytes: RawSpan) -> Bool {
    guard let transfer else { return false }
    guard transfer.receiveBody(bytes) else { return false }
    // Pausing is the only action that libcurl allows in a callback.
    rates?.charge(self)
    return true
  }

  /// Returns whether a rate of ours has paused the transfer since the last call.
  func wasPausedSinceLastLook() -> Bool {
    defer { wasPaused = isPaused }
    return wasPaused
  }

  /// Leaves the transfer to its body, which outlives this connection.
  func detach() {
    spent = nil
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
