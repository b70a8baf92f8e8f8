/// Work beside other runs on one cache: a run claims items, and takes what other runs stored.
extension Dispatcher {
  mutating func joined() {
    guard !claims.hasOtherRuns else { return }
    batch.commitSoon()
    var urls: [String] = []
    var inFlight: Set<Int> = []
    for item in items.indices where isStored(item) && !isPiece(item) {
      switch items[item].state {
      case .preparing, .inFlight, .gathering, .committing:
        inFlight.insert(item)
        urls.append(url(of: item))
      case .queued, .waiting, .settled:
        break
      }
    }
    claims.begin(with: inFlight)
    claimManifests(into: &urls)
    effects.append(.claim(urls))
  }

  // MARK: Documents

  private mutating func claimManifests(into urls: inout [String]) {
    for number in segments.indices {
      guard let url = documents[number].url, documents[number].exchange != nil,
        segments[number].isGathering || !batch.isEmpty
      else { continue }
      documents[number].isLookedUp = true
      documents[number].isClaimed = true
      urls.append(url.string)
    }
  }

  /// Returns the look-up that must precede a document's request; nil if none is needed.
  ///
  /// Only the manifest is claimed: with a claim per document, two runs could wait for each other.
  func lookBefore(requesting number: Int) -> Effect? {
    guard claims.hasOtherRuns, request.mode.writes, !documents[number].isLookedUp,
      let url = documents[number].url, let requestHash = fingerprint(ofDocument: number)
    else { return nil }
    let isClaim = documents[number].role == .manifest
    return .findDocument(number, url: url.string, requestHash: requestHash, isClaim: isClaim)
  }

  /// Requests a document after its look-up, or waits while another run owns it.
  ///
  /// The other run's document is revalidated: its body is not sent again, and all rules apply.
  mutating func documentFound(_ number: Int, isGranted: Bool, _ found: DocumentRecord?) {
    let index = documents[number].segment
    begun.end(.documents)
    if let host = documents[number].host {
      wire.leave(.document(number), on: host)
    }
    documents[number].isBeingLookedUp = false
    documents[number].isLookedUp = isGranted
    documents[number].isClaimed = isGranted && documents[number].role == .manifest
    guard halt == nil else { return settleManifestHalted(index) }
    guard isWanted(document: number) else { return }
    guard isGranted else {
      let since = documents[number].refusedSince ?? now.uptime
      documents[number].refusedSince = since
      return awaitOther(.document(number), since: since)
    }
    // A budget may have been used up while another run owned the document.
    if let deferral = deferral(of: .document(number)) {
      return settle(.document(number), deferral)
    }
    guard let found, documents[number].exchange?.value.attempts == 0 else {
      return enqueue(.document(number))
    }
    documents[number].offered = documents.offer(found, for: number)
    requestDocument(number)
  }

  mutating func offer(ofDocument number: Int) -> DocumentRecord? {
    guard request.mode.writes, let requestHash = fingerprint(ofDocument: number) else { return nil }
    return documents.offer(
      number,
      requestHash: requestHash,
      among: start.segments,
      excluding: request.identity
    )
  }

  mutating func unclaimManifests() {
    guard claims.hasOtherRuns, batch.isEmpty, !batch.isWriting else { return }
    for number in segments.indices where documents[number].isClaimed {
      guard let url = documents[number].url, !segments[number].isGathering else { continue }
      documents[number].isClaimed = false
      claims.release(url.string)
    }
  }

  func fingerprint(ofDocument number: Int) -> UInt64? {
    guard let url = documents[number].url else { return nil }
    let declaration = segments[documents[number].segment].declaration
    var entry = ManifestEntry(url: url)
    entry.headers = Self.ownHeaders(of: documents[number], declaration)
    if let accept = documents[number].furtherDocument?.accept {
      entry.headers.append(HeaderField("Accept", accept))
    }
    return facts.selector(of: declaration).fingerprint(of: entry, for: .manifest)
  }

  // MARK: Items

  func needsClaim(_ item: Int) -> Bool {
    claims.lacksClaim(item) && request.mode.writes && isStored(item) && !isPiece(item)
  }

  mutating func claim(_ item: Int, from host: HostID, into preparations: inout [Preparation]) {
    let work = activate(item)
    work.host = host
    work.isBeingRead = true
    work.isBeingClaimed = true
    items[item].state = .preparing
    begun.begin(.preparations)
    var preparation =
      preparation(of: item) ?? Preparation(item: item, record: nil, digest: nil)
    preparation.claimed = work.entry.recordURL
    preparations.append(preparation)
  }

  mutating func applyClaimReply(_ item: Int, _ reply: Prepared) -> Bool {
    guard let isGranted = reply.isClaimed else {
      return items.isSimple(item) || !activate(item).isBeingClaimed
    }
    activate(item).isBeingClaimed = false
    if isGranted {
      claims.add(item)
      activate(item).leftPart = reply.partial
      return true
    }
    activate(item).isBeingRead = false
    leaveWire(.item(item))
    guard halt == nil else {
      settleItemHalted(item)
      return false
    }
    let work = activate(item)
    let since = work.refusedSince ?? now.uptime
    work.refusedSince = since
    awaitOther(.item(item), since: since)
    return false
  }

  /// Pauses a job that another run owns; defers it once the wait limit is reached.
  private mutating func awaitOther(_ job: Job, since: Duration) {
    let limit = request.policy.retries.wait
    guard let length = Claims.pause(since: since, now: now.uptime, limit: limit) else {
      return settle(job, Deferral(rule: .lock))
    }
    pause(job, until: now.uptime + length)
  }

  mutating func unclaim(_ item: Int) {
    if claims.end(item) { claims.release(url(of: item)) }
  }

  mutating func releaseClaims() {
    unclaimManifests()
    let released = claims.drainReleased()
    if !released.isEmpty { effects.append(.release(released)) }
  }

  /// Takes a body that another run stored or confirmed, if it fits; returns whether it does.
  mutating func adoptBrought(_ item: Int) -> Bool {
    let work = items.active(item)
    guard claims.hasOtherRuns, let record = work.record?.value, isBrought(record, for: item) else {
      return false
    }
    leaveWire(.item(item))
    work.exchange = nil
    work.result.action = .keep
    work.result.outcome = .unchanged
    work.result.source = .cache
    work.result.reason = "another run has fetched it"
    finishStoring(item, record, body: nil)
    return true
  }

  private mutating func isBrought(_ record: ContentRecord, for item: Int) -> Bool {
    let work = items.active(item)
    guard record.state == .cached, record.failure == nil, let digest = record.digest,
      let confirmed = record.validatedAt, !space.evicted.contains(digest)
    else { return false }
    // The body may have been confirmed just before this run began, and committed later.
    let isNew = row(of: items[item].step).map { $0.digest != digest } ?? true
    guard isNew || start.now.wall <= confirmed else { return false }
    if work.digests.contains(where: { $0.algorithm.isTrustworthy }),
      Comparison(work.digests, stored: digest, strong: record.otherDigests) != .equal
    {
      return false
    }
    if let limit = sizeLimit(nil, in: Int(items[item].segment)), record.size > limit {
      return false
    }
    if keptFacts == nil {
      var policy = request.policy
      (policy.isOffline, policy.revalidatesAll, policy.refetchesAll) = (true, false, false)
      keptFacts = facts.under(policy)
    }
    guard let keptFacts else { return false }
    return work.segments.allSatisfy { index in
      Planner.decide(
        work.entry,
        record: record,
        segment: segments[index].declaration,
        facts: keptFacts,
        named: segments[index].provenance
      ).decision == .keep
    }
  }

  func url(of item: Int) -> String {
    segments[Int(items[item].segment)].table.value.url(at: Int(items[item].step.entry))
  }
}
