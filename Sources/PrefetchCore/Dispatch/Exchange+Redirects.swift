extension Exchange {
  mutating func follow(
    _ location: String,
    status: Int,
    from sender: Provenance,
    policy: RunPolicy,
    now: Instant
  ) -> Step {
    let rules = policy.redirects
    guard rules.isFollowing else {
      let target = try? hop.resolving(location)
      if let target { chain.redirects.append(RedirectHop(status: status, url: target)) }
      // Locations are often signed, so the message shows them redacted.
      let destination = target.map { "`\($0.redacted)`" } ?? "another place"
      return .failed(
        Failure(.redirected, "it is redirected to \(destination), and `redirects.follow` is false"),
        status: status
      )
    }
    let target: WebURL
    do {
      target = try hop.resolving(location)
    } catch {
      let code: ErrorCode =
        switch error {
        case .unsupportedScheme, .userInformation: .redirectForbidden
        case .notAbsolute, .missingHost, .invalidHost, .internationalHost, .invalidPort,
          .forbiddenCharacter, .malformedDigest, .tooLong:
          .badResponse
        }
      return .failed(Failure(code, "its redirect target \(error)"), status: status)
    }
    chain.redirects.append(RedirectHop(status: status, url: target))
    if redirects.count > rules.maximum {
      return .failed(
        Failure(.redirectLimit, "more than \(rules.maximum) redirects"),
        status: status
      )
    }
    if target == source || redirects.dropLast().contains(where: { $0.url == target }) {
      return .failed(
        Failure(.redirectLimit, "its redirects loop back to `\(target)`"),
        status: status
      )
    }
    if hop.scheme == .https, target.scheme == .http, !rules.allowsDowngrade {
      return .failed(
        Failure(.redirectForbidden, "a redirect leads from https to `\(target)`"),
        status: status
      )
    }
    if target.host != source.host, !rules.allowsCrossHost {
      return .failed(
        Failure(.redirectForbidden, "a redirect leads to another host, `\(target.host)`"),
        status: status
      )
    }
    if var failure = policy.refusal(
      of: target,
      for: terms.purpose,
      named: sender,
      isRedirected: true,
      at: now
    ) {
      failure.message = "a redirect leads to `\(target)`: \(failure.message)"
      return .failed(failure, status: status)
    }
    chain.provenance = sender
    chain.hop = target
    return .request
  }
}
