/// The lock file of a run: pinned items, and lists that need no request.
extension Dispatcher {
  /// Returns the entries pinned to the lock of their segment, if it has one.
  mutating func locked(_ entries: EntryTable, of index: Int) -> EntryTable {
    guard let terms = request.lockfile, let segment = locked(index) else { return entries }
    var locked = entries
    let shard = request.shard
    let isOwn = { shard?.owns($0) ?? true }
    locked.lock(to: segment, isFrozen: terms.isFrozen, isLifted: terms.isLifted, isOwn: isOwn)
    if request.mode.probes {
      var listed = entries
      listed.lock(to: segment)
      segments[index].manifest.drift = listed.drift(from: segment, isOwn: isOwn)
    }
    return locked
  }

  /// Returns the lock of a segment; nil for bodies that a lock cannot pin.
  private func locked(_ index: Int) -> LockedSegment? {
    let declaration = segments[index].declaration
    guard declaration.isStored else { return nil }
    return request.lockfile?.segment(declaration.name)
  }

  func isFrozen(_ index: Int) -> Bool {
    request.lockfile?.isFrozen == true && locked(index) != nil
  }

  /// Returns the time at which a list must not have expired; a lock vouches for a list of any age.
  func expiryTime(of index: Int) -> Instant {
    isFrozen(index) ? Instant(seconds: 0) : now.wall
  }

  /// Begins a frozen segment: its stored list suffices if every locked item is stored.
  mutating func discoverFrozen(_ index: Int) {
    let shard = request.shard
    let isWhole = locked(index).map { segment in
      segment.items.indices.allSatisfy { place in
        guard shard?.owns(segment.items.url(at: place)) ?? true else { return true }
        guard let position = facts.inventory.position(of: segment.items.key(at: place)) else {
          return false
        }
        let row = facts.inventory.rows[position]
        guard isUsable(row) else { return false }
        // The files of a stream are compared with the lock when its playlist is read.
        return row.form != nil || row.digest == segment.items.columnDigest(at: place)
      }
    }
    if isWhole == true { documents.useStoredLists(of: index) }
    requestDocument(index)
  }

  // MARK: Drift

  /// Whether a dry run asks servers about locked items, which a run keeps without a request.
  func probesLocked(_ index: Int) -> Bool {
    request.mode.probes && request.policy.probesItems && !request.policy.isOffline
      && locked(index) != nil
  }

  func probesDrift(of item: Int) -> Bool {
    items[item].step.reason == .lockedProbe
  }

  /// Compares a server's response head with the locked body; nil if the server did not respond.
  mutating func settleDriftProbe(_ item: Int, _ response: TransferResponse?) {
    let work = activate(item)
    let record = work.record?.value
    var change: Drift.Change?
    switch response?.status {
    case 404, 410: change = .gone
    case 200, 203:
      guard let response, let record else { break }
      let validators = Validators(response.headers)
      let size = Self.declaredSize(in: response)
      let isOther = !validators.isEmpty && validators != record.validators
      let isResized = record.files.isEmpty && size.map { $0 != record.size } ?? false
      if isOther || isResized { change = .changed }
    default: break
    }
    if let change {
      segments[Int(items[item].segment)].manifest.drift.append(Drift(change, work.entry.url.string))
    }
    work.result.action = .keep
    work.result.outcome = .unchanged
    work.result.source = .cache
    work.result.isPinned = true
    work.result.reason = PlanReason.digestMatches.text
    settleItem(item)
  }
}
