extension Dispatcher {
  /// Returns the run's status for displays, which poll some times a second.
  package mutating func status(at now: Moment, expectsBytes: Bool = true) -> RunStatus {
    if expectsBytes { expectBytes() }
    var status = RunStatus(segments: segments.map { Self.status(of: $0, at: now) })
    for (_, job) in wire.transfers { status.segments[segment(of: job)].active += 1 }
    for index in segments.indices where expectsBytes && status.segments[index].wait == nil {
      status.segments[index].wait = heldHost(of: index, at: now)
    }
    for (id, job) in wire.transfers {
      guard let advance = wire.advances[id], let url = url(of: job) else { continue }
      let isDocument = if case .document = job { true } else { false }
      status.transfers.append(
        RunStatus.Transfer(
          url: url,
          segment: segment(of: job),
          isDocument: isDocument,
          advance: advance,
          whole: whole(of: job)
        )
      )
    }
    return status
  }

  private func whole(of job: Job) -> RunStatus.Whole? {
    guard case .item(let item) = job, let parent = bundles.parent(of: item) else { return nil }
    var whole = RunStatus.Whole(
      url: items.active(parent.item).entry.url,
      bytes: 0,
      size: parent.work.reading.expectedBytes
    )
    for case let file? in parent.work.files {
      whole.bytes = whole.bytes.addingSaturated(file.size)
    }
    return whole
  }

  private static func status(of segment: SegmentWork, at now: Moment) -> RunStatus.Segment {
    let phase: RunStatus.Phase =
      switch segment.phase {
      case .discovering: .discovering
      case .planning, .planned: .running
      case .publishing: .publishing
      case .settled: .settled
      }
    var status = RunStatus.Segment(name: segment.declaration.name, phase: phase)
    status.open = segment.openItems
    status.expectedBytes = segment.expectedBytes?.bytes
    if let trouble = segment.trouble, let until = segment.troubledUntil, now.uptime < until {
      status.wait = RunStatus.Wait(trouble: trouble, rest: until - now.uptime)
    }
    return status
  }

  private func heldHost(of index: Int, at now: Moment) -> RunStatus.Wait? {
    for host in segments[index].hosts.values.sorted() {
      guard let due = wire.pause(of: host, now: now) else { continue }
      let trouble = RequestTrouble(host: wire.name(of: host))
      return RunStatus.Wait(trouble: trouble, rest: due - now.uptime)
    }
    return nil
  }

  /// Computes the expected bytes of planned segments once, in one pass over all items.
  private mutating func expectBytes() {
    let isUnsummed = segments.map { $0.phase == .planned && $0.expectedBytes == nil }
    guard isUnsummed.contains(true) else { return }
    var sums = [Int64](repeating: 0, count: segments.count)
    var areKnown = isUnsummed
    for item in items where areKnown[Int(item.segment)] {
      let index = Int(item.segment)
      switch item.step.decision {
      case .keep, .describe, .wait, .fail: continue
      case .revalidate: areKnown[index] = false
      case .fetch, .update:
        let size = segments[index].table.value.size(at: Int(item.step.entry))
        areKnown[index] = size != nil && item.step.bundle == nil
        sums[index] = sums[index].addingSaturated(size ?? 0)
      }
    }
    for index in segments.indices where isUnsummed[index] {
      let isKnown = areKnown[index] && sums[index] > 0
      segments[index].expectedBytes = SegmentWork.ExpectedBytes(bytes: isKnown ? sums[index] : nil)
    }
  }

  private func url(of job: Job) -> WebURL? {
    switch job {
    case .document(let number):
      return documents[number].url
    case .item(let item):
      if items.isActive(item) { return items.active(item).entry.url }
      let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
      return segments[index].table.value.columnURL(at: entry)
    }
  }

  // MARK: Requests

  mutating func announceDetails(_ result: TransferResult, of job: Job) {
    guard let exchange = exchange(of: job)?.value else { return }
    var story = RequestStory(
      url: exchange.hop,
      segments: requestingSegments(of: job).map { segments[$0].declaration.name },
      attempt: exchange.attempts,
      figures: result.figures
    )
    switch result.outcome {
    case .success(let response):
      story.status = response.status
      story.headers = response.headers
    case .failure(let failure):
      story.failure = failure
    }
    if result.isTrouble {
      segments[segment(of: job)].trouble = RequestTrouble(
        host: exchange.hop.authority,
        status: story.status,
        code: story.failure?.code
      )
    }
    if !start.isBrief { announce(.requestTraced(story)) }
  }

  mutating func announceWait(of job: Job, _ length: Duration) {
    let index = segment(of: job)
    guard let url = url(of: job), let trouble = segments[index].trouble else { return }
    segments[index].troubledUntil = now.uptime + length
    guard !start.isBrief else { return }
    let wait = RequestWait(
      url: url,
      segments: segments[index].names,
      length: length,
      trouble: trouble
    )
    announce(.requestWaits(wait))
  }
}
