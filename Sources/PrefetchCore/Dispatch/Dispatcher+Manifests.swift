extension Dispatcher {
  mutating func discover(_ index: Int) {
    staleBarriers.insert(index)
    let segment = segments[index]
    switch segment.declaration.source {
    case .inline(let entries):
      var record = SegmentRecord(key: segment.key)
      record.lastSuccess = segment.recorded?.lastSuccess
      record.state = segment.recorded?.state ?? record.state
      record.itemCount = entries.value.count + entries.value.duplicateCount
      accept(index, record, manifest: nil)
      // Items that are requested singly need no selection.
      if !request.mode.isOfSegments, !request.policy.bringsThumbnails {
        segments[index].entries = locked(entries.value, of: index)
      } else {
        let rules = !request.mode.isOfSegments ? ManifestRules() : segment.declaration.manifestRules
        let selected = ManifestSelection(rules).apply(to: entries.value)
        segments[index].entries = locked(ownShare(of: selected), of: index)
      }
      guard applyNetworkRules(nil, to: index) else {
        awaitingConditions.append((index, []))
        return
      }
      withInventory(.plan(segment: index, rejected: []))
    case .file(let path, _):
      segments[index].openDocuments = 1
      documents[index].bytes = .file(path)
      readWhenSigned(index)
    case .remote(let url):
      segments[index].openDocuments = 1
      segments[index].documentCount.begin(at: url)
      if let recorded = segment.recorded, recorded.manifestURL == url.string {
        documents[index].stored = recorded.document(at: url.string)
      }
      guard !isFrozen(index) else { return withInventory(.discover(segment: index)) }
      requestDocument(index)
    }
  }

  mutating func judge(_ index: Int) {
    if isOtherList(index) || segments[index].declaration.selectsByAge, !hasInventory {
      return withInventory(.judge(segment: index))
    }
    let (manifest, provenance) = documents.wholeManifest(index)
    segments[index].provenance = provenance
    segments[index].declaration.age.complete(under: manifest)
    let segment = segments[index]
    segments[index].manifest.warnings = manifest.warnings
    let selection = ManifestSelection(segment.declaration.manifestRules)
    let (entries, newest) = selection.select(
      from: manifest.entries,
      of: segment.declaration,
      facts
    )
    let objection =
      ManifestGuard.objection(
        to: manifest,
        of: segment.declaration,
        bundleID: request.bundleID,
        recorded: segment.lastList == nil ? segment.recorded : nil,
        newest: newest,
        policy: request.policy,
        now: expiryTime(of: index)
      ) ?? objection(toOtherList: manifest, of: index)
    if segment.lastList != nil, objection != nil {
      return settleManifestFailure(index, segment.manifest.failure)
    }
    if let objection { return refuse(index, objection, wasRead: true) }
    if let warning = ManifestGuard.warning(of: manifest, segment.declaration) {
      segments[index].manifest.warnings.append(warning)
    }
    guard request.mode.plansItems else { return settleRead(index, manifest) }
    // After this time a run must refuse the manifest.
    if let expires = manifest.expires, !isFrozen(index) {
      segments[index].limitQuiet(until: expires)
    }
    var record = segment.accepted ?? segment.recorded ?? SegmentRecord(key: segment.key)
    record.priority = manifest.priority
    record.generated = manifest.generated
    record.itemCount = manifest.itemCount
    record.newest = newest
    if entries.count < manifest.entries.count {
      segments[index].unselected = Shared(selection.unwanted(of: manifest.entries))
    }
    record.setHosts(of: entries.allOrigins)
    let staged = documents[index].staged
    switch segment.declaration.source {
    case .inline, .remote:
      record.manifest = staged?.digest ?? record.manifest
    case .file(let path, _):
      // Each run reads a local file again, and records its digest for comparison.
      record.manifestURL = path
      record.manifest = nil
      (record.manifestFinalURL, record.manifestRequestHash) = (nil, nil)
      record.validators = Validators(ofFile: manifest.document.fileDigest)
    }
    segments[index].isGathering = false
    documents[index].staged = nil
    // A list of an earlier run is not accepted again.
    if segment.lastList == nil { accept(index, record, manifest: staged) }
    let rejected = selection.apply(to: manifest.rejected).filter { isOwn($0.url) }
    segments[index].entries = locked(ownShare(of: entries), of: index)
    segments[index].mirrors = manifest.alternates
    segments[index].statedBase = manifest.base
    segments[index].declaration.maximumFileSize =
      segment.declaration.maximumFileSize(under: manifest, request.policy)
    guard applyNetworkRules(manifest.network, to: index) else {
      awaitingConditions.append((index, rejected))
      return
    }
    withInventory(.plan(segment: index, rejected: rejected))
  }

  /// Returns the entries of this run's shard; the guards check the whole list first.
  func ownShare(of entries: EntryTable) -> EntryTable {
    request.shard?.apply(to: entries) ?? entries
  }

  private func isOwn(_ url: String) -> Bool {
    request.shard?.owns(url) ?? true
  }

  /// Accepts a segment's generation, whatever happens to its items.
  private mutating func accept(_ index: Int, _ record: SegmentRecord, manifest: StagedBody?) {
    var record = record
    record.lastChecked = now.wall
    record.shard = request.shard?.shard.text
    // Until this run ends, the last run's state stays, without a quiet mark.
    record.quiet = nil
    let recorded = segments[index].recorded
    let isNew = manifest != nil || recorded == nil || recorded?.manifest != record.manifest
    if isNew || segments[index].recorded?.quiet != nil {
      batchListChange(.segment(record, manifest: manifest))
    }
    acceptDocuments(index)
    segments[index].accepted = record
  }

  /// Batches a change of a list; a dry run only checks the room for it.
  mutating func batchListChange(_ change: StoreChange) {
    if request.mode.keepsSegments { return batch.add(change, now: now.uptime) }
    if request.mode.predicts, space.rules.limit != nil { space.forecast.lists.append(change) }
    for body in change.bodies { effects.append(.discard(body)) }
  }

  private mutating func settleRead(_ index: Int, _ manifest: Manifest) {
    announce(.listRead(segment: segments[index].declaration.name, Shared(manifest)))
    dropDocuments(index)
    settleSegment(index)
  }

  mutating func refuse(_ index: Int, _ failure: Failure, wasRead: Bool = false) {
    manifestFailed(index, failure, status: .refused, wasRead: wasRead)
  }

  mutating func manifestFailed(
    _ index: Int,
    _ failure: Failure,
    status: ManifestResult.Status = .failed,
    wasRead: Bool = false
  ) {
    segments[index].manifest.status = status
    let stored = documents[index].url.flatMap { segments[index].recorded?.document(at: $0.string) }
    guard let stored, request.mode.isOfSegments, request.mode.plansItems, halt == nil,
      storeFailure == nil, segments[index].lastList == nil,
      let reason = LastList(after: failure, wasRead: wasRead)
    else {
      return settleManifestFailure(index, failure)
    }
    dropDocuments(index)
    recordManifestFailure(failure, of: index)
    segments[index].lastList = reason
    segments[index].isGathering = true
    segments[index].openDocuments = 1
    segments[index].documentCount = DocumentCount()
    segments[index].documentCount.begin(at: documents[index].url)
    documents.restart(index, with: stored)
    requestDocument(index)
  }

  /// Settles a segment whose discovery a halt ended; stored items stay usable.
  mutating func settleManifestHalted(_ index: Int) {
    guard segments[index].phase == .discovering else { return }
    if let failure = halt?.failure {
      segments[index].manifest.status = .failed
      segments[index].manifest.failure = failure
    } else {
      segments[index].manifest.status = .skipped
      markUnfinished(index)
    }
    dropDocuments(index)
    segments[index].usableCount = usableRecords(of: segments[index])
    settleSegment(index)
  }

  mutating func markUnfinished(_ index: Int) {
    if halt?.failure != nil { return }
    if let deferral = halt?.deferral {
      segments[index].deferral = segments[index].deferral ?? deferral
    } else {
      segments[index].isInterrupted = true
    }
  }

  /// Settles a segment without a list; its last good generation stays, and nothing is removed.
  mutating func settleManifestFailure(_ index: Int, _ failure: Failure?) {
    dropDocuments(index)
    recordManifestFailure(failure, of: index)
    guard segments[index].recorded != nil else { return settleSegment(index) }
    withInventory(.settle(segment: index))
  }

  private mutating func recordManifestFailure(_ failure: Failure?, of index: Int) {
    segments[index].manifest.failure = failure
    segments[index].manifest.needsSignature = !segments[index].declaration.manifestKeys.isEmpty
  }

  mutating func settleWithoutManifest(_ index: Int) {
    segments[index].usableCount = usableRecords(of: segments[index])
    settleSegment(index)
  }

  private func usableRecords(of segment: SegmentWork) -> Int {
    guard hasInventory else { return segment.recorded?.itemCount ?? 0 }
    return facts.inventory.positions(of: segment.key).count {
      isUsable(facts.inventory.rows[Int($0)])
    }
  }

  static func failure(status: Int, carriesCredentials: Bool) -> Failure {
    switch status {
    case 404, 410:
      Failure(.gone, "the server answered \(status)")
    case 407:
      .wantedByProxy(nil)
    case _ where carriesCredentials && [401, 403].contains(status):
      Failure(.credentialsRefused, "the server answered \(status) to a request with credentials")
    default: Failure(.http, "the server answered \(status)")
    }
  }
}

/// Guard against another list for a mirror: most likely the user named the wrong list or folder.
extension Dispatcher {
  func isOtherList(_ index: Int) -> Bool {
    let segment = segments[index]
    guard segment.declaration.publishing?.mirror != nil, let last = segment.recorded?.manifestURL
    else { return false }
    return switch segment.declaration.source {
    case .remote(let url): url.string != last
    case .file(let path, _): path != last
    case .inline: false
    }
  }

  /// Returns the objection to a list that lacks stored items; nil if the user allowed that.
  func objection(toOtherList manifest: Manifest, of index: Int) -> Failure? {
    guard isOtherList(index), !request.policy.allowsListChange else { return nil }
    let refused = Set(manifest.rejected.map { URLKey($0.url) })
    let count = facts.inventory.positions(of: segments[index].key).count { position in
      let row = facts.inventory.rows[Int(position)]
      return row.hasBody && manifest.entries.position(of: row.key) == nil
        && !refused.contains(row.key)
    }
    guard count > 0 else { return nil }
    let last = segments[index].recorded?.manifestURL ?? ""
    let name = (try? WebURL(last))?.redacted ?? last
    return Failure(
      .manifestGuard,
      "it is a different list than last time (`\(name)`) and lacks \(count) of the stored items; "
        + "`--allow list-change` accepts it once"
    )
  }
}
