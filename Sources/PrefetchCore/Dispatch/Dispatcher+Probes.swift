/// Probes of a dry run: a HEAD shows what a run would do with the same response head.
extension Dispatcher {
  mutating func probeReceived(_ item: Int, _ response: TransferResponse) {
    if probesDrift(of: item) { return settleDriftProbe(item, response) }
    let work = items.active(item)
    let selecting = selecting(item, response)
    if yieldsToEarlierVariant(item, response, by: selecting) { return }
    separateHeaderConflicts(item, by: selecting)
    if requestsHeadOnly(item) {
      guard !(200..<300).contains(response.status) else { return settleItem(item) }
      return fail(item, failure(of: .item(item), response))
    }
    switch response.status {
    case 304 where work.exchange?.value.isConditional == true:
      guard let record = work.record?.value else { return }
      var expected = Expectation(stored: record.validators)
      expected.isContradicted = Planner.isContradicted(work.digests, by: record)
      guard case .confirmed = conclude(.item(item), response, expected) else { return }
      if refusesStored(item, record) { return }
      keep(item, "the server says unchanged")
    case 200, 203:
      work.reportedSize = Self.declaredSize(in: response)
      // Needed by segments whose list comes later.
      if segments.count > 1 { settled.recordHeaders(response.headers, of: item) }
      foreseeRefusals(of: item, by: response)
      // Some servers answer every HEAD in full; equal validators say the same as a 304.
      if isRepeated(item, response) {
        if let record = work.record?.value, refusesStored(item, record) { return }
        let isUsersFile = work.record?.value.digest == nil
        keep(item, isUsersFile ? Self.isUsersFile : "the server's validators are unchanged")
      } else if let young = youngBody(item, response) {
        return settleYoung(item, young)
      } else if let failure = sizeFailure(item, response) {
        // A run would end its transfer at the head.
        work.reportedSize = nil
        leaveLargerLimits(item, failure)
        return fail(item, failure)
      } else if let objection = objection(to: response, of: item) {
        var expected = Expectation(objection: objection)
        expected.maySeekElsewhere = halt == nil && objection.code != .unsupported
        guard conclude(.item(item), response, expected) != nil else { return }
        return refuseBody(of: item, objection)
      } else {
        announceSize(item, response)
      }
    case 404, 410:
      if isStored(item), applyOnGone(item, response.status) { return }
      return fail(item, failure(of: .item(item), response))
    default:
      let failure = failure(of: .item(item), response)
      if failure.code == .credentialsRefused { return fail(item, failure) }
      work.result.reason += "; the server answered \(response.status) to HEAD"
    }
    settleItem(item)
  }

  /// Fails an item that a run could not request either; a refusal of HEAD alone keeps the plan.
  mutating func probeFailed(_ item: Int, _ failure: Failure, status: Int?) {
    if probesDrift(of: item) { return settleDriftProbe(item, nil) }
    if serveStale(item, failure, status: status) { return }
    if requestsHeadOnly(item) { return fail(item, failure) }
    let isRedirect = status.map { (300..<400).contains($0) } ?? false
    switch failure.code.category {
    case .trust, .connectivity, .denied:
      return fail(item, failure)
    case .content where isRedirect || failure.code == .redirected:
      return fail(item, failure)
    case .io, .content:
      items.active(item).result.reason += "; probe failed: \(failure.message)"
      settleItem(item)
    }
  }

  private mutating func keep(_ item: Int, _ reason: String) {
    let work = items.active(item)
    work.result.action = .keep
    work.result.outcome = .unchanged
    work.result.source = .revalidated
    work.result.reason = reason
  }

  func requestsHeadOnly(_ item: Int) -> Bool {
    segments[Int(items[item].segment)].declaration.requestsHeadOnly
  }

  // MARK: What a head shows

  /// Returns the body size that a head declares; nil if absent, or if the body is coded.
  static func declaredSize(in response: TransferResponse) -> Int64? {
    guard response.headers["Content-Encoding"] == nil else { return nil }
    return response.headers["Content-Length"].flatMap { Int64($0) }
  }

  /// Whether a conditional GET would be answered with 304.
  ///
  /// Another length contradicts the stored response, whatever its tag (RFC 9111, 4.3.5).
  private func isRepeated(_ item: Int, _ response: TransferResponse) -> Bool {
    guard let record = items.active(item).record?.value, respondsFromSameURL(item),
      items[item].step.decision == .revalidate || record.isImported
    else { return false }
    let validators = Validators(response.headers)
    let size = Self.declaredSize(in: response)
    if record.isImported { return record.isImported(like: response.headers, size: size) }
    return !validators.isEmpty && validators == record.validators
      && (size == nil || size == record.size)
  }

  /// Whether the answer came from the stored body's URL; other URLs' tags say nothing.
  private func respondsFromSameURL(_ item: Int) -> Bool {
    let work = items.active(item)
    let record = work.record?.value
    guard let hop = work.exchange?.value.hop.string, let url = record?.finalURL ?? record?.url
    else { return false }
    return SealedURL.isSame(hop, url)
  }

  private mutating func sizeFailure(_ item: Int, _ response: TransferResponse) -> Failure? {
    let work = items.active(item)
    guard let size = Self.declaredSize(in: response), let exchange = work.exchange else {
      return nil
    }
    let objection: String
    if let limit = exchange.value.terms.sizeLimit, size > limit {
      let sizes = SizeText.format(together: [size, limit])
      objection = "announces \(sizes[0]), more than the \(SizeText.format(limit: limit)) allowed"
    } else if let found = periodObjection(to: size, of: item, response) {
      objection = found
    } else {
      return nil
    }
    return Failure(.tooLarge, "`\(exchange.value.hop.authority)` \(objection)")
  }

  private mutating func periodObjection(
    to size: Int64,
    of item: Int,
    _ response: TransferResponse
  ) -> String? {
    let allowances = network?.allowances(of: Int(items[item].segment)) ?? []
    guard !allowances.isEmpty else { return nil }
    let url = items.active(item).entry.url.string
    let whole = WholeResponse(source: url, head: response.headers, size: size)
    let isContinued = isStored(item) && (whole.part != nil || start.partials[url] != nil)
    return isContinued
      ? nil : TransferRequest.Allowance.objection(toUncontinued: size, under: allowances)
  }

  func objection(to response: TransferResponse, of item: Int) -> Failure? {
    let work = items.active(item)
    let objection = BodyCheck.objection(
      toHead: response.headers,
      size: Self.declaredSize(in: response),
      entry: work.entry,
      expectations: work.judgingSegments.map { segments[$0].declaration.expectation },
      stored: storedBody(of: work)
    )
    if let objection { return objection }
    guard isStored(item) else { return nil }
    return storeObjection(to: response.headers, in: work.judgingSegments)
  }

  private func foreseeRefusals(of item: Int, by response: TransferResponse) {
    let work = items.active(item)
    guard !work.sharers.isEmpty, !isRepeated(item, response) else { return }
    let size = Self.declaredSize(in: response)
    for sharer in work.sharers {
      let objection = BodyCheck.objection(
        toHead: response.headers,
        size: size,
        entry: sharer.entry,
        expectations: [segments[sharer.segment].declaration.expectation],
        stored: nil
      )
      let failure =
        limitObjection(to: size, in: sharer.segment) ?? objection
        ?? storeObjection(to: response.headers, in: [sharer.segment])
      if let failure { work.foreseenRefusals.append((sharer, failure)) }
    }
  }

  private mutating func announceSize(_ item: Int, _ response: TransferResponse) {
    let work = items.active(item)
    let validators = Validators(response.headers)
    let isComparable =
      respondsFromSameURL(item)
      || !validators.isEmpty && validators != work.record?.value.validators
    let size = Self.declaredSize(in: response)
    let isDoubtful = items[item].step.reason == .noValidators || !isComparable
    if work.result.action == .revalidate {
      if !isDoubtful, let stored = work.record?.value, validators == stored.validators {
        work.result.action = .update
        work.result.reason = "the server says another size"
      } else if !isDoubtful {
        work.result.action = .update
        work.result.reason = "the server says changed"
      } else if let size, size != work.result.size {
        work.result.action = .update
        work.result.reason = "the server says another size"
      } else if !isComparable {
        work.result.reason = "the redirect target has changed"
      }
    }
    work.result.size = size ?? work.entry.size
  }
}
