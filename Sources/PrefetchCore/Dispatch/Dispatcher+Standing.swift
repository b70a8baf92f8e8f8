extension Dispatcher {
  /// Returns the run's status for displays, which poll some times a second.
  package mutating func standing(at now: Moment, expectsBytes: Bool = true) -> RunStanding {
    if expectsBytes { expectBytes() }
    var standing = RunStanding(segments: segments.map { Self.standing(of: $0, at: now) })
    for (_, job) in wire.transfers { standing.segments[segment(of: job)].active += 1 }
    for index in segments.indices where expectsBytes && standing.segments[index].wait == nil {
      standing.segments[index].wait = heldHost(of: index, at: now)
    }
    for (id, job) in wire.transfers {
      guard let advance = wire.advances[id], let url = url(of: job) else { continue }
      let isDocument = if case .document = job { true } else { false }
      standing.transfers.append(
        RunStanding.Transfer(
          url: url,
          segment: segment(of: job),
          isDocument: isDocument,
          advance: advance,
          whole: whole(of: job)
        )
      )
    }
    return standing
  }

  private func whole(of job: Job) -> RunStanding.Whole? {
    guard case .item(let item) = job, let parent = bundles.parent(of: item) else { return nil }
    var whole = RunStanding.Whole(
      url: items.active(parent.item).entry.url,
      bytes: 0,
      size: parent.work.reading.expectedBytes
    )
    for case let file? in parent.work.files {
      whole.bytes = whole.bytes.addingSaturated(file.size)
    }
    return whole
  }

  private static func standing(of segment: SegmentWork, at now: Moment) -> RunStanding.Segment {
    let phase: RunStanding.Phase =
      switch segment.phase {
      case .discovering: .discovering
      case .planning, .planned: .underWay
      case .publishing: .publishing
      case .settled: .settled
      }
    var standing = RunStanding.Segment(name: segment.declaration.name, phase: phase)
    standing.open = segment.openItems
    standing.expectedBytes = segment.expectation?.bytes
    if let trouble = segment.trouble, let until = segment.troubledUntil, now.uptime < until {
      standing.wait = RunStanding.Wait(trouble: trouble, rest: until - now.uptime)
    }
    return standing
  }

  private func heldHost(of index: Int, at now: Moment) -> RunStanding.Wait? {
    for host in segments[index].hosts.values.sorted() {
      guard let due = wire.pause(of: host, now: now) else { continue }
      let trouble = RequestTrouble(host: wire.name(of: host))
      return RunStanding.Wait(trouble: trouble, rest: due - now.uptime)
    }
    return nil
  }

  /// Computes the expected bytes of planned segments once, in one pass over all items.
  private mutating func expectBytes() {
    let asking = segments.map { $0.phase == .planned && $0.expectation == nil }
    guard asking.contains(true) else { return }
    var sums = [Int64](repeating: 0, count: segments.count)
    var areKnown = asking
    for item in items where areKnown[Int(item.segment)] {
      let index = Int(item.segment)
      switch item.step.decision {
      case .keep, .describe, .fail: continue
      case .revalidate: areKnown[index] = false
      case .fetch, .update:
        let size = segments[index].table.value.size(at: Int(item.step.entry))
        areKnown[index] = size != nil && item.step.bundle == nil
        sums[index] = sums[index].addingSaturated(size ?? 0)
      }
    }
    for index in segments.indices where asking[index] {
      let isTold = areKnown[index] && sums[index] > 0
      segments[index].expectation = SegmentWork.Expectation(bytes: isTold ? sums[index] : nil)
    }
  }

  private func url(of job: Job) -> WebURL? {
    switch job {
    case .document(let number):
      return documents[number].url
    case .item(let item):
      if items.isActive(item) { return items.active(item).entry.url }
      let (index, entry) = (Int(items[item].segment), Int(items[item].step.entry))
      return segments[index].table.value.plainURL(at: entry)
    }
  }

  // MARK: Requests

  mutating func tell(_ result: TransferResult, of job: Job) {
    guard let exchange = exchange(of: job)?.value else { return }
    var story = RequestStory(
      url: exchange.hop,
      segments: askingSegments(of: job).map { segments[$0].declaration.name },
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
    if !start.isBrief { announce(.requestTold(story)) }
  }

  mutating func tellWait(of job: Job, _ length: Duration) {
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
