/// Moves requests out and facts back; decides nothing.
///
/// It may be given more requests than may be on the wire and keeps them in line. When a host answers
/// with trouble, it gives back whatever of that host is not sent, since the caller may judge anew.
///
/// One thread calls these methods. An implementation may work on threads of its own.
package protocol Transport: AnyObject {
  /// Begins a transfer; its one `TransferEvent.finished` comes from a later `wait`.
  func start(_ request: TransferRequest)
  /// The same of a request that it makes itself.
  func start(_ id: TransferID, _ order: Order)
  /// Gives a transfer up; its end is still reported, as `cancelled` unless it was already over.
  func cancel(_ id: TransferID)
  /// The same, but however little has come of a body is kept, where the rest can be asked for later.
  func interrupt(_ id: TransferID)
  /// Blocks until something happened or the uptime `deadline` passed.
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

/// The engine's number for one request on the wire; never used twice in a run.
package struct TransferID: Hashable, Comparable, Sendable {
  package var number: Int

  package init(_ number: Int) {
    self.number = number
  }

  package static func < (a: Self, b: Self) -> Bool {
    a.number < b.number
  }
}

/// One hop: one URL asked once.
///
/// Redirects come back as responses.
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
  /// Sent as they are, besides what the transport itself adds (Host, User-Agent, Accept-Encoding).
  package var headers: [HeaderField]
  /// Whether the server may compress; the body arrives decoded all the same.
  package var allowsCoding = true
  /// More bytes than this (decoded) end the transfer with `too_large`.
  package var sizeLimit: Int64?
  /// Digests to take besides SHA-256.
  package var algorithms: Set<DigestAlgorithm> = []
  package var expectedSize: Int64?
  /// Whether a declared digest shows that a body is whole.
  package var isPinned = false
  /// Under which name a part of the body may be kept should it break off; nil keeps nothing.
  package var partialKey: String?
  /// Whether the body must leave the free disk space of `cache.min_free`.
  package var heedsFreeDisk = false
  /// Whether the body is wanted; else it is read, counted and hashed, and nothing of it is left.
  package var keepsBody = true
  /// What is kept already: the transport asks for the rest with `Range` and `If-Range`.
  package var partial: PartialBody?
  /// A rate that it shares with all other transfers of the same group.
  package var rateGroup: RateGroup?
  /// Numbers of bytes that it and others may receive together; when one is used up it is broken off.
  package var allowances: [Allowance] = []
  /// What is hoped for, where the answer may be judged at once, and what that would confirm.
  package var order: Order?
  package var confirming: Confirmable?
  /// What may be asked elsewhere in its place.
  package var tierQuestion: TierQuestion?
  /// How long nothing may arrive; nil = what the settings say.
  package var patience: Duration?
  /// Whether a body is refused that does not say how long it is: it could go on for ever.
  package var needsLength = false
  /// So many of the body's first bytes are told with it.
  package var prefixLength = StagedBody.prefixLength
  /// What its connection must prove; nil = what the settings say.
  package var connection: Shared<ConnectionRules>?

  /// So many bytes for all transfers that name it, counted from the first of them on.
  package struct Allowance: Hashable, Sendable {
    /// Of the budget, and of its renewal.
    package var number: Int
    package var bytes: Int64
    /// What a whole period allows.
    package var whole: Int64
    package var period: ByteBudget.Period

    /// Bytes that one read may bring beyond an allowance.
    package static let excess = 16_384

    /// The objection to a body that no later period can continue; nil where a whole period has room.
    ///
    /// Such a body would use up each period.
    package static func objection(toUncontinued size: Int64, under allowances: [Self]) -> String? {
      guard let least = allowances.min(by: { $0.whole < $1.whole }),
        size > least.whole.addingSaturated(Int64(excess))
      else { return nil }
      let sizes = SizeText.format(together: [size, least.whole])
      return "announces \(sizes[0]), more than `\(least.period.key)` of \(sizes[1]), "
        + "and a body that cannot be continued"
    }
  }

  /// A name, usually a segment's, and the bytes a second that all its transfers get together.
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

/// What a request sends.
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

/// A fact about a transfer.
package enum TransferEvent: Sendable {
  /// Bytes arrived since the last such event; only for progress displays.
  case progressed(TransferID, TransferAdvance)
  case finished(TransferID, TransferResult)
  /// The end of one whose answer was the one that was hoped for.
  case judged(TransferID, Outcome)
}

/// How far a body is that arrives.
package struct TransferAdvance: Hashable, Sendable {
  /// Since the last time.
  package var bytes: Int64
  /// Of this answer.
  package var arrived: Int64
  /// Of the whole body, with what had been kept of it before.
  package var position: Int64
  /// Of the whole body, where the answer tells it.
  package var size: Int64?

  package init(bytes: Int64, arrived: Int64, position: Int64, size: Int64? = nil) {
    self.bytes = bytes
    self.arrived = arrived
    self.position = position
    self.size = size
  }
}

/// It goes through many hands, so it is an object: it is too large to be copied by each.
package final class TransferResult: Sendable {
  /// Whole answers of any status are responses; everything else is a failure.
  package let outcome: Result<TransferResponse, Failure>
  package let figures: TransferFigures
  /// What was kept of a body that broke off.
  package let partial: PartialBody?
  /// Whether the request was given back before anything of it went out.
  package let wasNotSent: Bool
  /// Of a body that was refused for its size, where the head told that.
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

  /// A request that was given back unsent.
  package convenience init(notSent reason: Failure) {
    self.init(.failure(reason), figures: TransferFigures(), wasNotSent: true)
  }

  /// The same for another reason.
  package func failed(_ reason: Failure) -> TransferResult {
    copy(.failure(reason), figures)
  }

  /// Another answer, with what all requests for it together received.
  package func answered(
    _ outcome: Result<TransferResponse, Failure>,
    besides wireBytes: Int64
  ) -> TransferResult {
    var figures = figures
    figures.wireBytes += wireBytes
    return copy(outcome, figures)
  }

  /// The same with what was learnt.
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

  /// Whether it is not the origin's own word.
  var isToldByTier: Bool {
    if case .success(let response) = outcome { response.toldByTierAt != nil } else { false }
  }

  /// Who answered.
  func provenance(throughProxy isProxied: Bool) -> Provenance {
    switch outcome {
    case .success(let response): response.provenance(figures, throughProxy: isProxied)
    case .failure: Provenance(answeredFrom: figures.remoteAddress, throughProxy: isProxied)
    }
  }

  /// How long a body of its host was under way, be it whole or the beginning of one; nil where none
  /// came from there.
  var bodyTime: Duration? {
    switch outcome {
    case .success(let response):
      response.body != nil && response.toldByTierAt == nil ? figures.total : nil
    case .failure: partial != nil ? figures.total : nil
    }
  }

  package var failure: Failure? {
    if case .failure(let failure) = outcome { failure } else { nil }
  }

  /// Of the answer; nil where none came.
  package var status: Int? {
    if case .success(let response) = outcome { response.status } else { nil }
  }

  /// Whether the host should not be asked for anything else before it was judged by this.
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
  /// As they came; of a body that came in parts those of the whole.
  package let headers: HeaderBlock
  /// Only of a 200 or 203 to a GET or POST, of a 206 that continued a part (then the whole body), and of a
  /// 416 that says the part was the whole; bodies of other answers are read and dropped.
  package let body: StagedBody?
  /// Where a second tier gave it: when the origin had said so, which is now for a body that its digest
  /// alone names.
  package let toldByTierAt: Instant?
  /// Whether the origin that a second tier speaks for answered from an address like ours.
  package let isToldFromHere: Bool

  package init(
    status: Int,
    headers: consuming HeaderBlock,
    body: consuming StagedBody?,
    toldByTierAt: Instant? = nil,
    isToldFromHere: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.toldByTierAt = toldByTierAt
    self.isToldFromHere = isToldFromHere
  }

  /// Who answered; where a second tier stood in, that is not its own address.
  func provenance(_ figures: TransferFigures?, throughProxy isProxied: Bool) -> Provenance {
    guard toldByTierAt == nil else { return isToldFromHere ? .local : .publicServer }
    return Provenance(answeredFrom: figures?.remoteAddress, throughProxy: isProxied)
  }

  /// Whether its host has no peace to answer more.
  var isTrouble: Bool {
    status >= 500 || RetryPolicy.isBusy(status) || headers.has(.retryAfter)
  }
}

/// What was measured on the way; known for failures as far as they got.
package struct TransferFigures: Hashable, Sendable {
  package enum Version: String, Hashable, Sendable {
    case http10 = "1.0"
    case http11 = "1.1"
    case http2 = "2"
    case http3 = "3"
  }

  /// Nil when no answer came.
  package var version: Version?
  /// When it was handed to the network, by the calendar; nil for one that never was.
  package var started: Instant?
  /// Received, headers and coded body.
  package var wireBytes: Int64 = 0
  /// Sent, headers and body.
  package var requestBytes: Int64?
  package var dns: Duration?
  package var connect: Duration?
  package var tls: Duration?
  package var firstByte: Duration?
  /// Until the request went out.
  package var requested: Duration?
  package var total: Duration?
  /// How often the request went out on a connection, those included that the transport repeats by
  /// itself.
  package var requestCount = 1
  package var remoteAddress: String?
  /// Whether it went over a connection that earlier transfers had opened.
  package var didReuseConnection = false
  /// What the transfer showed of its host's versions of HTTP.
  package var lesson: ProtocolLesson?
  /// The key that a host showed in place of a pinned one, where that is only to be reported.
  package var unexpectedKey: ContentDigest?
  /// What the second tier did in place of an answer; then the failure says nothing about the host.
  package var tierTrouble: TierTrouble?
  /// What was said on the way, where the user wants to look into it.
  package var trace: TransferTrace?

  package init() {}

  /// Whether the report takes something from it that no count of answers tells, such as its host.
  var isRemarkable: Bool {
    lesson != nil || unexpectedKey != nil || requestCount > 1
  }

  package var wasSent: Bool { requestCount > 0 }

  /// `1.1`, `2`, `3`; nil when no answer came.
  package var httpVersion: String? {
    get { version?.rawValue }
    set { version = newValue.flatMap { Version(rawValue: $0) } }
  }
}

/// What a run learns of a host's versions of HTTP, and later ones have to know.
package enum ProtocolLesson: Int, Hashable, Sendable, CaseIterable {
  /// HTTP/2 bodies come without a length: those without a declared size or digest are asked for over
  /// HTTP/1.1, which marks the end.
  case openEnds = 2
  /// An older version answered after HTTP/3 had been tried in vain; it is not tried.
  case noHTTP3 = 3
}

/// What holds for every transfer of a run.
package struct TransportSettings: Hashable, Sendable {
  package enum HTTPVersion: String, Hashable, Sendable, CaseIterable {
    case auto
    case http1 = "1.1"
    case http2 = "2"
    case http3 = "3"
  }

  package enum Proxy: Hashable, Sendable {
    /// Read once from the process environment by the composition root.
    case environment(http: String?, https: String?, exceptions: String?)
    case none
    case url(Secret)
  }

  package var userAgent: String
  package var connectTimeout: Duration = .seconds(10)
  /// A transfer that receives nothing for so long has stalled.
  package var readTimeout: Duration = .seconds(30)
  package var itemTimeout: Duration?
  package var connectionsPerHost: Int = 4
  /// Requests on the wire at once, over all hosts.
  package var concurrency: Int = 256
  package var httpVersion: HTTPVersion = .auto
  package var minimumTLS = ConnectionRules.MinimumTLS.tls12
  package var caFile: String?
  package var caDirectory: String?
  /// For proxies, which are trusted as far as the system goes; nil where that says nothing else.
  package var proxyCAFile: String?
  package var proxyCADirectory: String?
  package var proxy: Proxy = .none
  /// Threads that send, receive, hash and write.
  package var workers: Int = 1
  /// Hosts, as ``WebURL/authority`` has them, by what was learnt of them not long ago.
  package var lessons: [ProtocolLesson: Set<String>] = [:]
  /// Bytes a second of all transfers together.
  package var rate: RateSchedule?
  /// Bytes a second from any one host.
  package var ratePerHost: Int64?
  /// Whether what is sent and shown on every connection is kept for the user to look into.
  package var isTraced = false

  package init(userAgent: String) {
    self.userAgent = userAgent
  }

  /// Whether something was learnt of a URL's host.
  package func has(_ lesson: ProtocolLesson, of url: WebURL) -> Bool {
    lessons.isEmpty ? false : lessons[lesson]?.contains(url.authority) ?? false
  }
}
