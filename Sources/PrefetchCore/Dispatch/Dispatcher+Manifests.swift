/// From a segment's name to its items.
extension Dispatcher {
  /// Finds out what the segment should hold.
  mutating func discover(_ index: Int) {
    unsettledHoldbacks.insert(index)
    let segment = segments[index]
    switch segment.declaration.source {
    case .inline(let entries):
      var record = SegmentRecord(key: segment.key)
      record.lastSuccess = segment.recorded?.lastSuccess
      record.state = segment.recorded?.state ?? record.state
      record.itemCount = entries.value.count + entries.value.duplicateCount
      accept(index, record, manifest: nil)
      // Items that are asked for by themselves are chosen already.
      if !request.mode.isOfSegments, !request.policy.bringsThumbnails {
        segments[index].entries = entries.value
      } else {
        let rules = !request.mode.isOfSegments ? ManifestRules() : segment.declaration.manifestRules
        segments[index].entries = ownPart(of: ManifestSelection(rules).apply(to: entries.value))
      }
      // A single item may have rules of its own.
      guard isNarrowed(index, by: nil) else {
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
      segments[index].parts.begin(at: url)
      if let recorded = segment.recorded, recorded.manifestURL == url.string {
        documents[index].stored = recorded.document(at: url.string)
      }
      ask(document: index)
    }
  }

  /// Takes in what the manifest says, once all its parts are here.
  mutating func judge(_ index: Int) {
    if isOtherList(index), !hasInventory {
      return withInventory(.judge(segment: index))
    }
    let (manifest, provenance) = documents.wholeManifest(index)
    segments[index].provenance = provenance
    let segment = segments[index]
    segments[index].manifest.warnings = manifest.warnings
    let objection =
      ManifestGuard.objection(
        to: manifest,
        of: segment.declaration,
        bundleID: request.bundleID,
        recorded: segment.lastList == nil ? segment.recorded : nil,
        policy: request.policy,
        now: now.wall
      ) ?? objection(toOtherList: manifest, of: index)
    if segment.lastList != nil, objection != nil {
      return settleManifestFailure(index, segment.manifest.failure)
    }
    if let objection { return refuse(index, objection, wasRead: true) }
    if let warning = ManifestGuard.warning(of: manifest, segment.declaration) {
      segments[index].manifest.warnings.append(warning)
    }
    guard request.mode.plansItems else { return settleRead(index, manifest) }
    // Past it the manifest is refused, which a run has to notice.
    if let expires = manifest.expires { segments[index].noteQuiet(until: expires) }
    var record = segment.accepted ?? segment.recorded ?? SegmentRecord(key: segment.key)
    record.priority = manifest.priority
    record.generated = manifest.generated
    record.itemCount = manifest.itemCount
    let selection = ManifestSelection(segment.declaration.manifestRules)
    let entries = selection.apply(to: manifest.entries)
    if entries.count < manifest.entries.count {
      segments[index].unselected = Shared(manifest.entries)
    }
    record.note(hosts: entries.allOrigins)
    let staged = documents[index].staged
    switch segment.declaration.source {
    case .inline, .remote:
      record.manifest = staged?.digest ?? record.manifest
    case .file(let path, _):
      // Read anew every time, and remembered so that the next one can be compared with it.
      record.manifestURL = path
      record.manifest = nil
      (record.manifestFinalURL, record.manifestAsked) = (nil, nil)
      record.validators = Validators(ofFile: manifest.document.fileDigest)
    }
    segments[index].isGathering = false
    documents[index].staged = nil
    // The last good generation stays as it is.
    if segment.lastList == nil { accept(index, record, manifest: staged) }
    let rejected = selection.apply(to: manifest.rejected).filter { isOwn($0.url) }
    segments[index].entries = ownPart(of: entries)
    segments[index].mirrors = manifest.alternates
    segments[index].statedBase = manifest.base
    segments[index].declaration.maximumFileSize =
      segment.declaration.maximumFileSize(under: manifest, request.policy)
    guard isNarrowed(index, by: manifest.network) else {
      awaitingConditions.append((index, rejected))
      return
    }
    withInventory(.plan(segment: index, rejected: rejected))
  }

  /// What falls to this run, once the guards have seen the whole list.
  func ownPart(of entries: EntryTable) -> EntryTable {
    request.shard?.apply(to: entries) ?? entries
  }

  private func isOwn(_ url: String) -> Bool {
    request.shard?.takes(url) ?? true
  }

  /// From here on this is the segment's generation, whatever becomes of its items.
  private mutating func accept(_ index: Int, _ record: SegmentRecord, manifest: StagedBody?) {
    var record = record
    record.lastChecked = now.wall
    record.shard = request.shard?.shard.text
    // Until this run has an end the state of the last one stands, and nothing is quiet.
    record.quiet = nil
    let recorded = segments[index].recorded
    let isNew = manifest != nil || recorded == nil || recorded?.manifest != record.manifest
    if isNew || segments[index].recorded?.quiet != nil {
      book(.segment(record, manifest: manifest))
    }
    acceptDocuments(index)
    segments[index].accepted = record
  }

  /// What tells a segment what it holds; a dry run only looks whether there is room for it.
  mutating func book(_ change: StoreChange) {
    if request.mode.keepsSegments { return batch.add(change, now: now.uptime) }
    if request.mode.foretells, space.rules.limit != nil { space.forecast.lists.append(change) }
    for body in change.bodies { effects.append(.discard(body)) }
  }

  /// Ends a segment of which only the list was requested.
  private mutating func settleRead(_ index: Int, _ manifest: Manifest) {
    announce(.listRead(segment: segments[index].declaration.name, Shared(manifest)))
    dropDocuments(index)
    settleSegment(index)
  }

  mutating func refuse(_ index: Int, _ failure: Failure, wasRead: Bool = false) {
    manifestFailed(index, failure, status: .refused, wasRead: wasRead)
  }

  /// What the last run accepted stays in force, as far as the failure lets anything be asked.
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
    note(manifestFailure: failure, of: index)
    segments[index].lastList = reason
    segments[index].isGathering = true
    segments[index].openDocuments = 1
    segments[index].parts = PartCount()
    segments[index].parts.begin(at: documents[index].url)
    documents.startAnew(index, with: stored)
    ask(document: index)
  }

  /// After a halt nothing is looked up any more; what the last run found still serves.
  mutating func settleManifestHalted(_ index: Int) {
    guard segments[index].phase == .discovering else { return }
    if let failure = halt?.failure {
      segments[index].manifest.status = .failed
      segments[index].manifest.failure = failure
    } else {
      segments[index].manifest.status = .skipped
      noteUnfinished(index)
    }
    dropDocuments(index)
    segments[index].usableCount = usableRecords(of: segments[index])
    settleSegment(index)
  }

  /// Nothing is wrong with a segment for which the run was too short.
  mutating func noteUnfinished(_ index: Int) {
    if halt?.failure != nil { return }
    if let deferral = halt?.deferral {
      segments[index].deferral = segments[index].deferral ?? deferral
    } else {
      segments[index].isInterrupted = true
    }
  }

  /// The last good generation stays as it is, and nothing leaves.
  mutating func settleManifestFailure(_ index: Int, _ failure: Failure?) {
    dropDocuments(index)
    note(manifestFailure: failure, of: index)
    guard segments[index].recorded != nil else { return settleSegment(index) }
    withInventory(.settle(segment: index))
  }

  private mutating func note(manifestFailure failure: Failure?, of index: Int) {
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

  /// What a status that brings no body means.
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
