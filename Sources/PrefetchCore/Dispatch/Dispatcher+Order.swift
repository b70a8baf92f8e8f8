extension Dispatcher {
  func rank(of job: Job) -> Rank {
    switch job {
    case .document(let number):
      let index = documents[number].segment
      return Rank(documentOf: index, priority: segments[index].documentPriority)
    case .item(let item):
      let work = items.ifActive(item)
      let hasBegun = work?.exchange != nil
      return work?.sharedRank?.begun(hasBegun)
        ?? rank(of: Int(items[item].step.entry), in: segment(of: item), hasBegun: hasBegun)
    }
  }

  private func segment(of item: Int) -> Int {
    Int(items[item].segment)
  }

  private func rank(of entry: Int, in index: Int, hasBegun: Bool = false) -> Rank {
    let table = segments[index].table
    return Rank(
      itemOf: index,
      priority: segments[index].knownPriority,
      own: table.value.hasPriorities ? table.value.priority(at: entry) : nil,
      hasBegun: hasBegun
    )
  }

  mutating func raise(_ item: Int, for index: Int, _ entry: Int) {
    let work = items.active(item)
    let other = rank(of: entry, in: index)
    let (host, rank) = hostAndRank(of: .item(item))
    guard other.ignoringBegun < rank.ignoringBegun else { return }
    work.sharedRank = other
    guard items[item].state == .queued else { return }
    wire.move(.item(item), on: host, from: rank, to: self.rank(of: .item(item)))
  }

  // MARK: Manifests

  mutating func raiseList(of index: Int, for other: Int) {
    guard let priority = segments[other].documentPriority,
      priority < segments[index].documentPriority ?? Rank.lowestPriority
    else { return }
    let queued = segments[index].requestedDocuments.sorted().map {
      ($0, hostAndRank(of: .document($0)))
    }
    segments[index].raisedPriority = priority
    for (document, old) in queued {
      let job = Job.document(document)
      wire.move(job, on: old.host, from: old.rank, to: rank(of: job))
    }
  }

  mutating func addRequestedDocument(_ document: Int) {
    segments[documents[document].segment].requestedDocuments.insert(document)
    staleBarriers.insert(documents[document].segment)
  }

  mutating func removeRequestedDocument(_ document: Int) {
    segments[documents[document].segment].requestedDocuments.remove(document)
    staleBarriers.insert(documents[document].segment)
  }

  mutating func recordDocumentRetry(_ index: Int) {
    segments[index].hadDocumentRetry = true
    staleBarriers.insert(index)
  }

  /// Renews the start barriers, since no job waits for a list on a closed host.
  mutating func renewStartBarriers() {
    for index in segments.indices where segments[index].barrier != nil {
      staleBarriers.insert(index)
    }
  }

  mutating func renewBarriers() {
    guard !staleBarriers.isEmpty else { return }
    var gated: Set<Int> = []
    for index in staleBarriers.sorted() {
      let isGated = segments[index].requestedDocuments.contains {
        wire.isHeld(hostAndRank(of: .document($0)).host)
      }
      if isGated { gated.insert(index) }
      let new = isGated ? nil : barrier(of: index)
      guard new != segments[index].barrier else { continue }
      wire.setBarrier(new, insteadOf: segments[index].barrier)
      segments[index].barrier = new
    }
    // Gates open without an event, so these segments are checked again.
    staleBarriers = gated
  }

  private mutating func barrier(of index: Int) -> StartBarrier? {
    let segment = segments[index]
    switch segment.phase {
    case .planned, .publishing, .settled: return nil
    case .discovering, .planning: break
    }
    guard segment.phase == .discovering, !segment.requestedDocuments.isEmpty else {
      // Reading and planning wait for no server.
      return StartBarrier(last: rank(ofItemsOf: index), ground: .everywhere)
    }
    guard !segment.hadDocumentRetry, let priority = segment.knownPriority else { return nil }
    let last = Rank.last(ofPriority: priority)
    guard let hosts = segment.recorded?.hosts ?? (segment.recorded == nil ? [] : nil) else {
      return StartBarrier(last: last, ground: .everywhere)
    }
    var ids = Set(hosts.map { wire.host($0) })
    for number in segment.requestedDocuments {
      ids.insert(hostAndRank(of: .document(number)).host)
      if let url = documents[number].url { ids.insert(wire.host(url.authority)) }
    }
    return StartBarrier(last: last, ground: .hosts(ids))
  }

  private func rank(ofItemsOf index: Int) -> Rank {
    Rank(
      itemOf: index,
      priority: segments[index].knownPriority,
      own: Rank.lowestPriority
    )
  }
}
