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
    let (host, rank) = place(of: .item(item))
    guard other.standing < rank.standing else { return }
    work.sharedRank = other
    guard items[item].state == .queued else { return }
    wire.move(.item(item), on: host, from: rank, to: self.rank(of: .item(item)))
  }

  // MARK: Manifests

  /// Raises a list's documents to the rank of a segment whose items wait for the list.
  mutating func raiseList(of index: Int, for other: Int) {
    guard let priority = segments[other].documentPriority,
      priority < segments[index].documentPriority ?? Rank.lowestPriority
    else { return }
    let places = segments[index].asked.sorted().map { ($0, place(of: .document($0))) }
    segments[index].raisedPriority = priority
    for (document, place) in places {
      let job = Job.document(document)
      wire.move(job, on: place.host, from: place.rank, to: rank(of: job))
    }
  }

  mutating func noteAsked(_ document: Int) {
    segments[documents[document].segment].asked.insert(document)
    unsettledHoldbacks.insert(documents[document].segment)
  }

  mutating func noteAnswered(_ document: Int) {
    segments[documents[document].segment].asked.remove(document)
    unsettledHoldbacks.insert(documents[document].segment)
  }

  /// Ends a segment's start barrier after a failed attempt for one of its documents.
  mutating func noteStumbled(_ index: Int) {
    segments[index].hasStumbled = true
    unsettledHoldbacks.insert(index)
  }

  /// Renews the start barriers, since no job waits for a list on a closed host.
  mutating func noteHeld() {
    for index in segments.indices where segments[index].holdback != nil {
      unsettledHoldbacks.insert(index)
    }
  }

  mutating func renewHoldbacks() {
    guard !unsettledHoldbacks.isEmpty else { return }
    var gated: Set<Int> = []
    for index in unsettledHoldbacks.sorted() {
      let isGated = segments[index].asked.contains { wire.isHeld(place(of: .document($0)).host) }
      if isGated { gated.insert(index) }
      let new = isGated ? nil : holdback(of: index)
      guard new != segments[index].holdback else { continue }
      wire.holdBack(new, insteadOf: segments[index].holdback)
      segments[index].holdback = new
    }
    // Gates open without an event, so these segments are checked again.
    unsettledHoldbacks = gated
  }

  private mutating func holdback(of index: Int) -> Holdback? {
    let segment = segments[index]
    switch segment.phase {
    case .planned, .publishing, .settled: return nil
    case .discovering, .planning: break
    }
    guard segment.phase == .discovering, !segment.asked.isEmpty else {
      // Reading and planning wait for no server.
      return Holdback(last: rank(ofItemsOf: index), ground: .everywhere)
    }
    guard !segment.hasStumbled, let priority = segment.knownPriority else { return nil }
    let last = Rank.last(ofPriority: priority)
    guard let hosts = segment.recorded?.hosts ?? (segment.recorded == nil ? [] : nil) else {
      return Holdback(last: last, ground: .everywhere)
    }
    var ids = Set(hosts.map { wire.host($0) })
    for number in segment.asked {
      ids.insert(place(of: .document(number)).host)
      if let url = documents[number].url { ids.insert(wire.host(url.authority)) }
    }
    return Holdback(last: last, ground: .hosts(ids))
  }

  private func rank(ofItemsOf index: Int) -> Rank {
    Rank(
      itemOf: index,
      priority: segments[index].knownPriority,
      own: Rank.lowestPriority
    )
  }
}
