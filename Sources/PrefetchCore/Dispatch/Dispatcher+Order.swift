/// Who goes first, and whom a manifest that is asked for keeps waiting.
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

  /// An item that one more segment names goes as early as the first of them would have it.
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

  /// A list for which items of another segment wait is asked for as early as these would be.
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

  /// From here on no other segment waits for what it asks.
  mutating func noteStumbled(_ index: Int) {
    segments[index].hasStumbled = true
    unsettledHoldbacks.insert(index)
  }

  /// A host is left alone for a while, and no job waits for one that would ask it.
  mutating func noteHeld() {
    for index in segments.indices where segments[index].holdback != nil {
      unsettledHoldbacks.insert(index)
    }
  }

  /// Has the queue hold back whom segments keep waiting whose items are about to be known.
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
    // A gate opens by itself.
    unsettledHoldbacks = gated
  }

  private mutating func holdback(of index: Int) -> Holdback? {
    let segment = segments[index]
    switch segment.phase {
    case .planned, .publishing, .settled: return nil
    case .discovering, .planning: break
    }
    guard segment.phase == .discovering, !segment.asked.isEmpty else {
      // It is being read or taken in, which waits for no server out there.
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

  /// The last that its own items have.
  private func rank(ofItemsOf index: Int) -> Rank {
    Rank(
      itemOf: index,
      priority: segments[index].knownPriority,
      own: Rank.lowestPriority
    )
  }
}
