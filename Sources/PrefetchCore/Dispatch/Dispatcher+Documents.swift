/// Documents of a manifest: each follows the full policy, and is read when its signature is here.
extension Dispatcher {
  mutating func requestDocument(_ number: Int) {
    let document = documents[number]
    let index = document.segment
    guard let url = document.url else { return }
    guard halt == nil else { return settleManifestHalted(index) }
    if segments[index].lastList != nil {
      return useStored(number, status: segments[index].manifest.status)
    }
    if documents.usesStoredLists(of: index), document.stored != nil {
      return useStored(number, status: .skipped)
    }
    if beginDateLookup(number) { return }
    if beginPageLookup(number) { return useStored(number, status: .skipped) }
    let policy = request.policy
    if document.furtherDocument?.isImmutable == true, document.stored != nil, !policy.refetchesAll {
      return useStored(number, status: .skipped)
    }
    let refusal = policy.refusal(of: url, for: .manifest, named: document.namer, at: now.wall)
    if let refusal { return fail(document: number, refusal) }
    if let deferral = deferral(ofSegment: index) {
      return settle(.document(number), deferral)
    }
    if policy.isOffline {
      guard document.stored != nil else {
        let failure = Failure(.noNetwork, "nothing is stored, and `--offline` sends no request")
        return fail(document: number, failure)
      }
      return useStored(number, status: .skipped)
    }
    if document.offered == nil { documents[number].offered = offer(ofDocument: number) }
    // A signature is asked for when its list is new or the stored one does not fit, so a stored
    // one that a server confirms would be the wrong one.
    let stored =
      policy.refetchesAll || document.isSignature
      ? nil : documents[number].offered ?? document.stored
    let declaration = segments[index].declaration
    let headers = Self.ownHeaders(of: document, declaration)
    var exchange = Exchange(
      url: url,
      headers: headers,
      credentials: request.credentials,
      conditions: stored?.validators ?? Validators(),
      conditionURL: stored?.finalURL,
      sizeLimit: document.isSignature
        ? SignatureDemand.sizeLimit : request.policy.maximumManifestSize,
      purpose: .manifest,
      provenance: document.namer,
      holdsLicense: headers.count > declaration.headers.count,
      isOriginChosen: !connections.addsHeaders || Self.isChosen(document, declaration),
      accept: document.furtherDocument?.accept,
      bypassesCaches: policy.refetchesAll,
      isLookup: true,
      isReleaseAPI: declaration.isReleaseAPI(url)
    )
    let granted = policy.freshnessLimit.map { [Freshness.Lifetime.atMost($0)] } ?? []
    exchange.tierRequest = tierRequest([], granted)
    documents[number].exchange = ExchangeBox(exchange)
    enqueue(.document(number))
  }

  /// Returns the headers that the configuration sends to the manifest's own server only.
  static func ownHeaders(
    of document: DocumentWork,
    _ declaration: SegmentDeclaration
  ) -> [HeaderField] {
    guard let url = document.url else { return [] }
    switch declaration.source {
    case .remote(let manifest) where manifest.origin == url.origin:
      return declaration.headers + declaration.manifestHeaders
    case .file where declaration.base?.origin == url.origin:
      return declaration.headers
    case .remote, .file, .inline:
      return []
    }
  }

  private static func isChosen(
    _ document: DocumentWork,
    _ declaration: SegmentDeclaration
  ) -> Bool {
    guard let url = document.url else { return true }
    if case .file = declaration.source { return document.namer == .local }
    return declaration.mayChooseServer(of: url)
  }

  // MARK: Answers

  mutating func settleDeferred(document number: Int, _ deferral: Deferral) {
    let index = documents[number].segment
    removeRequestedDocument(number)
    guard isWanted(document: number) else { return }
    if documents[number].furtherDocument?.isOptional == true, halt == nil {
      return passOver(document: number, Failure(.serverBusy, deferral.text()))
    }
    segments[index].manifest.status = .skipped
    segments[index].deferral = deferral
    if showsLastGeneration(number) {
      segments[index].lastList = .deferred(deferral)
      return useStored(number, status: .skipped)
    }
    settleManifestFailure(index, nil)
  }

  /// Whether the items of the last manifest are listed while the next one is deferred.
  ///
  /// A deferred part may belong to a new generation; a halt leaves no time for a million items.
  private func showsLastGeneration(_ number: Int) -> Bool {
    guard case .manifest = documents[number].role else { return false }
    return request.mode.isOfSegments && halt == nil && documents[number].stored != nil
  }

  mutating func documentReceived(_ number: Int, _ response: TransferResponse) {
    guard let exchange = documents[number].exchange, let url = documents[number].url else { return }
    let index = documents[number].segment
    if storeFailure != nil {
      discard(response)
      return settleManifestHalted(index)
    }
    documents[number].link = PageHint.Link(response.headers.combined("Link"))
    let stored = documents[number].offered ?? documents[number].stored
    let body: StagedBody
    switch conclude(.document(number), response, Expectation(stored: stored?.validators)) {
    case .confirmed:
      documents[number].stored = stored
      return useStored(number, status: .notModified)
    case .body(let new): body = new
    case .bodiless: return fail(document: number, failure(of: .document(number), response))
    case .refused(let failure): return fail(document: number, failure)
    case .again, .elsewhere, nil: return
    }
    documents[number].staged = body
    documents[number].bytes = .staged(body)
    documents[number].finalURL = exchange.value.hop
    var record = DocumentRecord(url: url.string, digest: body.digest)
    record.requestHash = fingerprint(ofDocument: number)
    record.finalURL = exchange.value.hop.string
    record.validators = Revalidation.lastingValidators(
      ofDocument: response.headers,
      receivedAt: now.wall
    )
    record.isSignature = documents[number].isSignature
    documents[number].accepted = record
    offerToTier(body, response, of: exchange.value, from: documents[number].provenance)
    guard !documents[number].isSignature else {
      return signatureIsHere(number)
    }
    segments[index].manifest.bytes = (segments[index].manifest.bytes ?? 0) + body.size
    segments[index].manifest.status = .fetched
    documents[number].mime = response.headers[.contentType].map(BodyCheck.mediaType)
    if let mime = documents[number].mime,
      let objection = ManifestGuard.objection(
        toType: BodyCheck.essence(mime),
        of: documents[number].furtherDocument
      )
    {
      return fail(document: number, objection)
    }
    if case .manifest = documents[number].role {
      segments[index].accepted = recordOfManifest(index, record)
    }
    readWhenSigned(number)
  }

  private mutating func recordOfManifest(_ index: Int, _ document: DocumentRecord) -> SegmentRecord
  {
    var record = segments[index].recorded ?? SegmentRecord(key: segments[index].key)
    record.manifestURL = document.url
    record.manifest = document.digest
    record.manifestFinalURL = document.finalURL
    record.manifestRequestHash = document.requestHash
    record.validators = document.validators
    return record
  }

  mutating func useStored(_ number: Int, status: ManifestResult.Status) {
    let index = documents[number].segment
    guard let stored = documents[number].stored else {
      if documents[number].furtherDocument?.isOptional == true {
        return passOver(document: number, Failure(.notFound, "no run has stored it"))
      }
      return settleManifestFailure(index, segments[index].manifest.failure)
    }
    documents[number].bytes = .stored(stored.digest)
    documents[number].finalURL = try? WebURL(stored.finalURL ?? stored.url)
    documents[number].accepted = stored
    if case .manifest = documents[number].role {
      segments[index].manifest.status = status
      let isOthers = segments[index].recorded?.manifest != stored.digest
      let isOfThisRun = segments[index].lastList == nil
      if isOthers, isOfThisRun {
        segments[index].accepted = recordOfManifest(index, stored)
      }
      if !isOthers, isOfThisRun, !probesLocked(index), segments.isQuiet(index, at: now.wall) {
        guard let rules = segments[index].declaration.publishing else {
          return settleQuiet(index)
        }
        return effects.append(.findTree(segment: index, segments[index].key, rules))
      }
    }
    if documents[number].isSignature {
      return signatureIsHere(number)
    }
    readWhenSigned(number)
  }

  // MARK: Failures

  /// Fails a document and so its manifest; the last good generation stays.
  mutating func fail(document number: Int, _ given: Failure) {
    let document = documents[number]
    if document.furtherDocument?.isOptional == true {
      return passOver(document: number, given)
    }
    if segments[document.segment].lastList != nil {
      return settleManifestFailure(
        document.segment,
        segments[document.segment].manifest.failure
      )
    }
    var failure = given
    let declaration = segments[document.segment].declaration
    if failure.code == .gone, !document.isSignature, declaration.manifestRules.format != .hf {
      failure.message +=
        document.url.map { declaration.isReleaseAPI($0) } == true
        ? "; correct the name of the project or its tag, or give a token if it is private"
        : "; correct its URL, or ask the publisher of the list"
    }
    if let url = document.url {
      switch document.role {
      case .manifest: break
      case .further: failure.message = "`\(url.redacted)`: \(failure.message)"
      case .signature:
        // Any answer in place of the signature proves nothing; only connection failures may pass.
        if [.gone, .http, .tooLarge, .credentialsRefused].contains(failure.code) {
          failure = Failure(.signature, "it is not signed: `\(url.redacted)`: \(failure.message)")
        } else {
          failure.message = "its signature `\(url.redacted)`: \(failure.message)"
        }
      }
    }
    // An answer that is no manifest is a fault of the server, not of the publisher.
    let isRefused = [.manifestGuard, .signature, .rollback].contains(failure.code)
    if isRefused { return refuse(document.segment, failure) }
    manifestFailed(document.segment, failure)
  }

  func isWanted(document number: Int) -> Bool {
    segments[documents[number].segment].isGathering && !documents[number].isDropped
  }

  mutating func dropDocuments(_ index: Int) {
    let wasGathering = segments[index].isGathering
    segments[index].isGathering = false
    segments[index].openDocuments = 0
    segments[index].accepted = nil
    segments[index].requestedDocuments = []
    staleBarriers.insert(index)
    let dropped = documents.drop(index)
    for body in dropped.bodies { effects.append(.discard(body)) }
    // After a halt no segment waits, and all transfers are cancelled already.
    guard wasGathering, halt == nil else { return }
    for (id, job) in wire.transfers where documents.isDocument(job, of: index) {
      effects.append(.cancelTransfer(id))
    }
    wire.endPauses(of: dropped.jobs)
    for authority in dropped.authorities.sorted() {
      let host = wire.host(authority)
      for job in wire.drainQueue(of: host) where !documents.isDocument(job, of: index) {
        wire.putBack(job, to: host, rank: rank(of: job))
      }
    }
  }
}
