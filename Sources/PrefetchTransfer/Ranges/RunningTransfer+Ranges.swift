internal import PrefetchCore

/// A transfer whose body may arrive over several connections.
extension RunningTransfer {
  /// Size of a body that may arrive over several connections; nil for any other body.
  private var rangedSize: Int64? {
    guard failure == nil, share == nil, version?.isTextual == true, queued.allowances.isEmpty,
      isSinkOpen, case .get = request.method, let tag = resumption.part?.validator,
      Validators.isStrong(tag)
    else { return nil }
    if case .whole = use {
      guard case .length? = head?.framing else { return nil }
    }
    return announcedSize
  }

  /// Returns the rule for a large body that other connections could help with; else nil.
  func rangeRule() -> RangeRule? {
    guard let rangedSize, rangedSize >= ranges.smallestBody else { return nil }
    return RangeRule(ranges)
  }

  /// State of the body for its rule while one connection brings it.
  var observation: RangeRule.Observation {
    RangeRule.Observation(
      received: arrivedSize,
      rest: (announcedSize ?? bodySize) - bodySize,
      connections: 1
    )
  }

  /// Validator of the body, which each range names.
  var rangeTag: String? { resumption.part?.validator }

  /// Lets other connections bring ranges of this body; nil if its bytes must arrive in order.
  func beginRanges(under rule: RangeRule) -> RangedBody? {
    guard let size = rangedSize, (sink as? any RangeSink)?.beginRanges() == true else { return nil }
    let body = RangedBody(self, RangeMap(size: size, received: bodySize), rule)
    share = RangeShare(body, from: 0, responseEnd: size)
    return body
  }

  /// Fills the holes of a kept part, over one connection at first.
  func shareKeptPart() {
    guard let part = use.kept, !part.spans.isEmpty, let size = part.wholeSize else { return }
    let limits = queued.allowances.isEmpty ? ranges : RangeLimits()
    let body = RangedBody(self, RangeMap(size: size, keeping: part), RangeRule(limits))
    let (start, end) = part.firstHole
    if case .rest = use { body.map.begin(at: start) }
    share = RangeShare(body, from: start, responseEnd: end ?? size)
  }

  func rangeSink() throws(Failure) -> any RangeSink {
    guard let sink = try openSink() as? any RangeSink else {
      throw Failure(.internal, "a body with holes in a store without them")
    }
    return sink
  }
}
