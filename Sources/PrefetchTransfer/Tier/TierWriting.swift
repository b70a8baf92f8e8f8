package import PrefetchCore
internal import PrefetchCrypto

/// Queue of uploads to a second tier, a few at a time.
struct TierWriting {
  enum Step {
    case look
    case body
    case record
  }

  struct Work {
    let response: OriginResponse
    var step: Step?
  }

  var isOn = false
  var refusesRecords = false
  private var waiting: [Work] = []
  private var first = 0
  var inFlight: [TransferID: Work] = [:]
  private var lastNumber = 0
  private var present: Set<ContentDigest> = []
  private var missing: Set<ContentDigest> = []
  var failuresInRow = 0

  static let mostAtOnce = 8
  static let mostWaiting = 200_000
  /// Most started items kept at the front of the queue.
  private static let mostBegun = 4_096
  /// Size up to which a body is sent without a check for existence.
  private static let smallSize: Int64 = 16 << 10
  private static let mostKnown = 1 << 20

  var hasWork: Bool {
    first < waiting.count || !inFlight.isEmpty
  }

  mutating func append(_ response: OriginResponse, _ step: Step? = nil) -> Bool {
    guard waiting.count - first < Self.mostWaiting else { return false }
    waiting.append(Work(response: response, step: step))
    return true
  }

  mutating func drop() {
    waiting = []
    first = 0
  }

  mutating func next() -> (TransferID, Work)? {
    guard inFlight.count < Self.mostAtOnce, first < waiting.count else { return nil }
    var work = waiting[first]
    first += 1
    if first == waiting.count {
      drop()
    } else if first >= Self.mostBegun {
      waiting.removeFirst(first)
      first = 0
    }
    work.step = work.step ?? firstStep(of: work.response)
    return (newID(), work)
  }

  /// Returns a negative id, which no transfer of a run has.
  mutating func newID() -> TransferID {
    lastNumber -= 1
    return TransferID(lastNumber)
  }

  private func firstStep(of response: OriginResponse) -> Step {
    if present.contains(response.digest) { return .record }
    return missing.contains(response.digest) || response.size <= Self.smallSize ? .body : .look
  }

  mutating func markPresent(_ digest: ContentDigest) {
    guard isOn, present.count < Self.mostKnown else { return }
    present.insert(digest)
    missing.remove(digest)
  }

  mutating func markMissing(_ digest: ContentDigest) {
    guard isOn, missing.count < Self.mostKnown else { return }
    missing.insert(digest)
    present.remove(digest)
  }
}

extension TieredTransport {
  package var isWriting: Bool { writing.hasWork }

  package func offer(_ responses: [OriginResponse]) {
    guard writing.isOn else { return }
    for response in responses where !writing.append(response) {
      figures.recordFailure(
        Failure(.tooLarge, "it accepts bodies more slowly than origins send them")
      )
    }
    write()
  }

  /// Uploads a record that the origin has confirmed, with its body where the tier has lost it.
  func renew(_ response: OriginResponse) {
    // The store may not have the body.
    guard writing.isOn, response.isForAll || terms.settings.sharesAll,
      writing.append(response, .look)
    else { return }
    write()
  }

  func write() {
    while writing.isOn, let (id, work) = writing.next() { begin(id, work) }
  }

  private func begin(_ id: TransferID, _ work: TierWriting.Work) {
    if case .record = work.step, work.response.isBodyAlone || writing.refusesRecords { return }
    let name: TierName
    let method: TransferRequest.Method
    var payload: ContentDigest?
    var type: String?
    switch work.step {
    case nil: return
    case .look:
      (name, method) = (.body(work.response.digest), .head)
    case .body:
      name = .body(work.response.digest)
      method = .put(.file(path: terms.path(work.response.digest), size: work.response.size))
      payload = work.response.digest
      type = "application/octet-stream"
    case .record:
      let bytes = terms.encode(work.response)
      guard !bytes.isEmpty, bytes.count <= Int(TierTerms.longestRecord) else { return }
      name = .record(of: work.response.url)
      method = .put(.bytes(bytes))
      payload = SHA256.digest(of: bytes)
      type = "application/json"
    }
    writing.inFlight[id] = work
    inner.start(terms.request(id, method, name, payload: payload, type: type))
  }

  func written(_ id: TransferID, _ result: TransferResult) {
    guard let work = writing.inFlight.removeValue(forKey: id) else { return }
    // The transport returned this upload unsent after trouble with another one, which decides.
    if result.wasNotSent {
      if writing.isOn { _ = writing.append(work.response, work.step) }
      return
    }
    switch (work.step, status(result)) {
    case (.look, 200...299):
      writing.markPresent(work.response.digest)
      continueUpload(work.response, .record)
    case (.look, 404), (.look, 410), (.look, 403):
      continueUpload(work.response, .body)
    case (.body, 200...299), (.body, 412):
      writing.failuresInRow = 0
      writing.markPresent(work.response.digest)
      figures.written += 1
      figures.writtenBytes += work.response.size
      continueUpload(work.response, .record)
    case (.record, 200...299):
      break
    case (.record, 400...499):
      writing.refusesRecords = true
      figures.recordFailure(Failure(.http, "it refuses records of origins (`ac/`)"))
    // A body that was removed here meanwhile is no fault of the tier.
    case _ where result.failure?.code == .notFound:
      break
    case (_, let status):
      figures.recordFailure(result.failure ?? Self.refusal(status))
      writing.failuresInRow += 1
      if (400..<500).contains(status) || status == 507 || writing.failuresInRow >= 3 {
        writing.isOn = false
        writing.drop()
      }
    }
    write()
  }

  private func continueUpload(_ response: OriginResponse, _ step: TierWriting.Step) {
    guard writing.isOn else { return }
    begin(writing.newID(), TierWriting.Work(response: response, step: step))
  }

  private func status(_ result: TransferResult) -> Int {
    if case .success(let response) = result.outcome { response.status } else { 0 }
  }

  private static func refusal(_ status: Int) -> Failure {
    Failure(
      .http,
      "it answered \(status) to an upload; it may be read-only or full"
    )
  }
}
