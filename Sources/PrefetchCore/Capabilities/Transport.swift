/// Sends requests, queues those above the limit in flight, and returns facts; makes no decisions.
///
/// When a host answers with trouble, its unsent requests are returned for a new decision. All
/// methods are called from one thread; an implementation may use threads of its own.
package protocol Transport: AnyObject {
  /// Starts a transfer; its only `TransferEvent.finished` comes from a later `wait`.
  func start(_ request: TransferRequest)
  func start(_ id: TransferID, _ order: Order)
  func cancel(_ id: TransferID)
  /// Cancels a transfer, but keeps any received bytes of a body that can be resumed.
  func interrupt(_ id: TransferID)
  /// Blocks until an event occurs or the uptime `deadline` passes.
  func wait(until deadline: Duration?) -> [TransferEvent]
}

extension Transport {
  package func interrupt(_ id: TransferID) {
    cancel(id)
  }

  package func start(_ id: TransferID, _ order: Order) {
    start(order.request(id))
  }
}

package struct TransferID: Hashable, Comparable, Sendable {
  package var number: Int

  package init(_ number: Int) {
    self.number = number
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.number < b.number
  }
}

/// Request for one hop: one URL, requested once; redirects are returned as responses.
package struct TransferRequest: Sendable {
  package enum Method: Hashable, Sendable {
    case get
    case head
    case post(body: [UInt8])
    case put(UploadedBody)
  }

  package var id: TransferID
  package var method: Method
  package var url: WebURL
  /// Header fields to send unchanged; the transport adds Host, User-Agent and Accept-Encoding.
  package var headers: [HeaderField]
  /// Whether the server may compress the body, which arrives decoded in any case.
  package var allowsCoding = true
  /// Maximum of decoded bytes; a larger body ends the transfer with `too_large`.
  package var sizeLimit: Int64?
  package var algorithms: Set<DigestAlgorithm> = []
  package var expectedSize: Int64?
  /// Whether a declared digest proves that a body is whole.
  package var isPinned = false
  /// Name for the kept part of a body that breaks off; nil keeps nothing.
  package var partialKey: String?
  /// Whether the body must leave `cache.min_free` free on the disk.
  package var heedsFreeDisk = false
  /// Whether the body is kept; otherwise it is read, counted, hashed and dropped.
  package var keepsBody = true
  /// Kept part of the body: the transport requests the rest with `Range` and `If-Range`.
  package var partial: PartialBody?
  package var rateGroup: RateGroup?
  /// Byte allowances shared with other transfers; the transfer is broken off when one is used up.
  package var allowances: [Allowance] = []
  /// Order by which a worker judges the response, and the stored facts that a 304 confirms.
  package var expectedOutcome: Order?
  package var storedForConfirmation: Confirmable?
  package var tierRequest: TierRequest?
  /// Maximum time without received bytes; nil = the settings' value.
  package var idleTimeout: Duration?
  /// Whether to refuse a body without a declared length, which could be endless.
  package var needsLength = false
  package var prefixLength = StagedBody.prefixLength
  package var connection: Shared<ConnectionRules>?

  /// Bytes that all transfers naming this allowance may receive, counted from its first transfer.
  package struct Allowance: Hashable, Sendable {
    package var number: Int
    package var bytes: Int64
    package var whole: Int64
    package var period: ByteBudget.Period

    /// Bytes by which one read may exceed an allowance.
    package static let excess = 16_384

    /// Returns the objection to a body that cannot be resumed and would use up each whole period.
    package static func objection(toUncontinued size: Int64, under allowances: [Self]) -> String? {
      guard let least = allowances.min(by: { $0.whole < $1.whole }),
        size > least.whole.addingSaturated(Int64(excess))
      else { return nil }
      let sizes = SizeText.format(together: [size, least.whole])
      return "announces \(sizes[0]), more than `\(least.period.key)` of \(sizes[1]), "
        + "and a body that cannot be continued"
    }
  }

  package struct RateGroup: Hashable, Sendable {
    package var name: String
    package var rate: Int64
  }

  package init(
    id: TransferID,
    method: Method = .get,
    url: WebURL,
    headers: [HeaderField] = []
  ) {
    self.id = id
    self.method = method
    self.url = url
    self.headers = headers
  }
}

package enum UploadedBody: Hashable, Sendable {
  case bytes([UInt8])
  case file(path: String, size: Int64)

  package var size: Int64 {
    switch self {
    case .bytes(let bytes): Int64(bytes.count)
    case .file(_, let size): size
    }
  }
}

package enum TransferEvent: Sendable {
  /// Bytes received since the last such event; only for progress displays.
  case progressed(TransferID, TransferAdvance)
  case finished(TransferID, TransferResult)
  case judged(TransferID, Outcome)
  /// The number of connections to a host (``WebURL/authority``) that the transport now allows.
  case connectionsFound(String, Int)
}

/// Progress of a body that is arriving.
package struct TransferAdvance: Hashable, Sendable {
  package var bytes: Int64
  package var arrived: Int64
  /// Position in the whole body, including a part that was kept before.
  package var position: Int64
  package var size: Int64?

  package init(bytes: Int64, arrived: Int64, position: Int64, size: Int64? = nil) {
    self.bytes = bytes
    self.arrived = arrived
    self.position = position
    self.size = size
  }
}

/// End of a transfer; a class because it is too large to be copied at each handover.
package final class TransferResult: Sendable {
  /// Complete response of any status; anything else is a failure.
  package let outcome: Result<TransferResponse, Failure>
  package let figures: TransferFigures
  package let partial: PartialBody?
  /// Whether the request was returned before any of it was sent.
  package let wasNotSent: Bool
  /// Declared size of a body that was refused for it; nil if the head did not declare one.
  package let announcedSize: Int64?

  package init(
    _ outcome: consuming Result<TransferResponse, Failure>,
    figures: consuming TransferFigures,
    partial: consuming PartialBody? = nil,
    wasNotSent: Bool = false,
    announcedSize: Int64? = nil
  ) {
    self.outcome = outcome
    self.figures = figures
    self.partial = partial
    self.wasNotSent = wasNotSent
    self.announcedSize = announcedSize
  }

  package convenience init(notSent reason: Failure) {
    self.init(.failure(reason), figures: TransferFigures(), wasNotSent: true)
  }

  package func failed(_ reason: Failure) -> TransferResult {
    copy(.failure(reason), figures)
  }

  package func replacingOutcome(
    _ outcome: Result<TransferResponse, Failure>,
    addingWireBytes wireBytes: Int64
  ) -> TransferResult {
    var figures = figures
    figures.wireBytes += wireBytes
    return copy(outcome, figures)
  }

  package func teaching(_ lesson: ProtocolLesson) -> TransferResult {
    var figures = figures
    figures.lesson = lesson
    return copy(outcome, figures)
  }

  private func copy(
    _ outcome: Result<TransferResponse, Failure>,
    _ figures: TransferFigures
  ) -> TransferResult {
    TransferResult(
      outcome,
      figures: figures,
      partial: partial,
      wasNotSent: wasNotSent,
      announcedSize: announcedSize
    )
  }

  var isFromSecondTier: Bool {
    if case .success(let response) = outcome { response.tierRespondedAt != nil } else { false }
  }

  func provenance(throughProxy isProxied: Bool) -> Provenance {
    switch outcome {
    case .success(let response): response.provenance(figures, throughProxy: isProxied)
    case .failure: Provenance(remoteAddress: figures.remoteAddress, throughProxy: isProxied)
    }
  }

  /// Transfer time of a whole or partial body from the origin; nil if none came from there.
  var bodyTime: Duration? {
    switch outcome {
    case .success(let response):
      response.body != nil && response.tierRespondedAt == nil ? figures.total : nil
    case .failure: partial != nil ? figures.total : nil
    }
  }

  package var failure: Failure? {
    if case .failure(let failure) = outcome { failure } else { nil }
  }

  package var status: Int? {
    if case .success(let response) = outcome { response.status } else { nil }
  }

  /// Whether the host must get no other request before this result has been judged.
  package var isTrouble: Bool {
    switch outcome {
    case .success(let response):
      response.isTrouble
    case .failure(let failure):
      failure.code != .cancelled
    }
  }
}

package struct TransferResponse: Sendable {
  package let status: Int
  /// Received headers; for a body received in parts, those of the whole.
  package let headers: HeaderBlock
  /// Body of a 200 or 203 to a GET or POST, the whole body after a 206 that continued a part, or
  /// after a 416 that showed the part to be the whole; other bodies are read and dropped.
  package let body: StagedBody?
  /// Time of the origin's response that a second tier passed on, or the current time for a body
  /// found by digest alone; nil if the origin answered.
  package let tierRespondedAt: Instant?
  /// Whether the origin behind the second tier answered from a local address.
  package let originWasLocal: Bool

  package init(
    status: Int,
    headers: consuming HeaderBlock,
    body: consuming StagedBody?,
    tierRespondedAt: Instant? = nil,
    originWasLocal: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.tierRespondedAt = tierRespondedAt
    self.originWasLocal = originWasLocal
  }

  func provenance(_ figures: TransferFigures?, throughProxy isProxied: Bool) -> Provenance {
    guard tierRespondedAt == nil else { return originWasLocal ? .local : .publicServer }
    return Provenance(remoteAddress: figures?.remoteAddress, throughProxy: isProxied)
  }

  var isTrouble: Bool {
    status >= 500 || RetryPolicy.isBusy(status) || headers.has(.retryAfter)
      || status == 403 && RetryAfter.hasNoneLeft(headers)
  }
}

/// Measurements of a transfer; those of a failed one end where it failed.
package struct TransferFigures: Hashable, Sendable {
  package enum Version: String, Hashable, Sendable {
    case http10 = "1.0"
    case http11 = "1.1"
    case http2 = "2"
    case http3 = "3"
  }

  package var version: Version?
  /// Calendar time at which the request was handed to the network; nil if it never was.
  package var started: Instant?
  /// Received bytes of headers and coded body.
  package var wireBytes: Int64 = 0
  package var requestBytes: Int64?
  package var dns: Duration?
  package var connect: Duration?
  package var tls: Duration?
  package var firstByte: Duration?
  package var requested: Duration?
  package var total: Duration?
  /// Times that the request was sent, including the transport's own repetitions.
  package var requestCount = 1
  package var remoteAddress: String?
  package var didReuseConnection = false
  package var lesson: ProtocolLesson?
  /// Key that the host showed instead of a pinned one, where the rule only reports it.
  package var unexpectedKey: ContentDigest?
  /// Failure of the second tier; the transfer's failure then says nothing about the host.
  package var tierTrouble: TierTrouble?
  package var trace: TransferTrace?

  package init() {}

  var isRemarkable: Bool {
    lesson != nil || unexpectedKey != nil || requestCount > 1
  }

  package var wasSent: Bool { requestCount > 0 }

  package var httpVersion: String? {
    get { version?.rawValue }
    set { version = newValue.flatMap { Version(rawValue: $0) } }
  }
}

/// Lesson about a host's HTTP versions that later runs remember.
package enum ProtocolLesson: Int, Hashable, Sendable, CaseIterable {
  /// HTTP/2 bodies come without a length: bodies without a declared size or digest are requested
  /// over HTTP/1.1, which marks the end.
  case openEnds = 2
  /// HTTP/3 was tried in vain and an older version answered; HTTP/3 is not tried again.
  case noHTTP3 = 3
}

package struct TransportSettings: Hashable, Sendable {
  package enum HTTPVersion: String, Hashable, Sendable, CaseIterable {
    case auto
    case http1 = "1.1"
    case http2 = "2"
    case http3 = "3"
  }

  package enum Proxy: Hashable, Sendable {
    /// Proxy variables, read once from the process environment by the composition root.
    case environment(http: String?, https: String?, exceptions: String?)
    case none
    case url(Secret)
  }

  package var userAgent: String
  package var connectTimeout: Duration = .seconds(10)
  /// Time without received bytes after which a transfer has stalled.
  package var readTimeout: Duration = .seconds(30)
  package var itemTimeout: Duration?
  package var connectionsPerHost: Int = firstConnections
  /// Whether a run finds the number of connections to a host itself, up to `connectionsPerHost`.
  package var findsConnections = false
  package var concurrency: Int = 256
  package var httpVersion: HTTPVersion = .auto
  package var minimumTLS = ConnectionRules.MinimumTLS.tls12
  package var caFile: String?
  package var caDirectory: String?
  package var proxyCAFile: String?
  package var proxyCADirectory: String?
  package var proxy: Proxy = .none
  package var workers: Int = 1
  /// Hosts (``WebURL/authority``) by the lessons recently learnt about them.
  package var lessons: [ProtocolLesson: Set<String>] = [:]
  package var rate: RateSchedule?
  package var ratePerHost: Int64?
  package var isTraced = false
  package var ranges = RangeLimits()

  /// Connections to a host that a run begins with when it finds their number.
  package static let firstConnections = 4

  package init(userAgent: String) {
    self.userAgent = userAgent
  }

  package func has(_ lesson: ProtocolLesson, of url: WebURL) -> Bool {
    lessons.isEmpty ? false : lessons[lesson]?.contains(url.authority) ?? false
  }
}
