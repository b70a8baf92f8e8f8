/// Verdict of one rule on an item, for the user's question why.
package struct RuleVerdict: Hashable, Sendable {
  package enum Verdict: String, Hashable, Sendable {
    case allowed
    case refused
    /// Refused until time or circumstances change.
    case deferred
    case applies
    case silent
  }

  package var rule: String
  package var verdict: Verdict
  package var reason: String

  package init(_ rule: String, _ verdict: Verdict, _ reason: String) {
    self.rule = rule
    self.verdict = verdict
    self.reason = reason
  }
}

extension RunPolicy {
  /// Returns the verdicts of the trust and size rules, in order of evaluation.
  package func verdicts(
    on entry: ManifestEntry,
    segment: SegmentDeclaration,
    named provenance: Provenance,
    at now: Instant
  ) -> [RuleVerdict] {
    let url = entry.url
    let purpose = RequestPurpose(itemType: entry.type)
    let account = account(of: url, for: purpose, at: now)
    let rules =
      connectionRules(
        for: url,
        purpose: purpose,
        named: provenance,
        rule: connections.rule(for: url, method: .get),
        at: now
      ) ?? defaultRules
    return [
      RuleVerdict(
        "transport_security",
        account.isAllowed ? .allowed : .refused,
        account.reason
      ),
      hostVerdict(url),
      addressVerdict(url, rules, purpose, provenance, at: now),
      tlsVerdict(url, rules),
      pinVerdict(url, rules),
      clientVerdict(url, rules),
      redirectVerdict,
      transportVerdict(url, purpose, segment),
      digestVerdict(entry, segment),
      sizeVerdict(entry, segment),
      tierVerdict(entry),
    ].compactMap(\.self)
  }

  package var defaultRules: ConnectionRules {
    var rules = ConnectionRules()
    rules.minimumTLS = connections.minimumTLS
    return rules
  }

  private func hostVerdict(_ url: WebURL) -> RuleVerdict? {
    guard connections.listedHosts != nil else { return nil }
    let isAllowed = connections.mayBeListed(url.host)
    let words = isAllowed ? "may" : "may not"
    return RuleVerdict(
      "hosts",
      isAllowed ? .allowed : .refused,
      "lists \(words) name `\(url.host)`"
    )
  }

  private func addressVerdict(
    _ url: WebURL,
    _ rules: ConnectionRules,
    _ purpose: RequestPurpose,
    _ provenance: Provenance,
    at now: Instant
  ) -> RuleVerdict {
    let name = "addresses"
    let refusal = refusal(of: url, for: purpose, named: provenance, at: now)
    if let refusal, refusal.code == .addressForbidden {
      return RuleVerdict(name, .refused, refusal.message)
    }
    switch rules.reach {
    case .anywhere:
      let reason =
        provenance == .local
        ? "no address restriction for `\(url.host)`"
        : "no address restriction for `\(url.host)`, which the configuration names"
      return RuleVerdict(name, .silent, reason)
    case .publicOnly:
      let reason =
        "`\(url.host)` comes from a manifest, so it may not be in a local network unless its "
        + "manifest is"
      return RuleVerdict(name, .applies, reason)
    case .localOnly:
      let reason = "`\(url.host)` must be in a local network: plain http is allowed only there"
      return RuleVerdict(name, .applies, reason)
    }
  }

  private func tlsVerdict(_ url: WebURL, _ rules: ConnectionRules) -> RuleVerdict {
    guard url.scheme == .https else { return RuleVerdict("tls", .silent, "plain http") }
    let secrecy =
      rules.requiresForwardSecrecy ? "with forward secrecy" : "forward secrecy not required"
    return RuleVerdict("tls", .applies, "TLS \(rules.minimumTLS.number) or newer, \(secrecy)")
  }

  private func pinVerdict(_ url: WebURL, _ rules: ConnectionRules) -> RuleVerdict {
    guard url.scheme == .https else { return RuleVerdict("tls.pins", .silent, "plain http") }
    guard !rules.pins.isEmpty else {
      return RuleVerdict("tls.pins", .silent, "no pin holds for `\(url.host)`")
    }
    let entries = rules.pins.flatMap { rule in
      rule.entries.map { rule.onlyReports ? "\($0), only reported" : $0 }
    }
    return RuleVerdict("tls.pins", .applies, entries.joined(separator: "; "))
  }

  private func clientVerdict(_ url: WebURL, _ rules: ConnectionRules) -> RuleVerdict {
    guard let client = rules.client else {
      return RuleVerdict("tls.client", .silent, "no client certificate is for `\(url.authority)`")
    }
    return RuleVerdict("tls.client", .applies, "`\(client.certificate)`")
  }

  private var redirectVerdict: RuleVerdict {
    guard redirects.isFollowing else {
      return RuleVerdict("redirects", .applies, "none is followed")
    }
    let hosts = redirects.allowsCrossHost ? "to other hosts too" : "on the same host"
    let downgrade =
      redirects.allowsDowngrade
      ? "from https to http where http is allowed" : "never from https to http"
    return RuleVerdict(
      "redirects",
      .applies,
      "up to \(redirects.maximum) are followed, \(hosts), \(downgrade)"
    )
  }

  private func transportVerdict(
    _ url: WebURL,
    _ purpose: RequestPurpose,
    _ segment: SegmentDeclaration
  ) -> RuleVerdict {
    guard !connections.rules.isEmpty else {
      return RuleVerdict("transport.rules", .silent, "there are none")
    }
    guard let number = connections.rule(for: url, method: .get) else {
      return RuleVerdict("transport.rules", .silent, "none matches")
    }
    let rule = connections.rules[number]
    let headers = rule.headers(for: purpose, isFirstOrigin: segment.mayChooseServer(of: url)).map(
      \.name
    )
    let parts = [
      rule.url.map { "matches `\($0.text)`" } ?? "matches everything",
      rule.proxy.map { $0 == .none ? "no proxy" : "a proxy of its own" },
      rule.httpVersion.map { "HTTP \($0.rawValue)" },
      headers.isEmpty ? nil : "adds " + headers.map { "`\($0)`" }.joined(separator: ", "),
    ]
    return RuleVerdict(
      "transport.rules[\(number)]",
      .applies,
      parts.compactMap(\.self).joined(separator: "; ")
    )
  }

  private func digestVerdict(
    _ entry: ManifestEntry,
    _ segment: SegmentDeclaration
  ) -> RuleVerdict {
    let hasProof = entry.digests.contains { $0.algorithm.isTrustworthy }
    guard segment.requiresDigest else {
      let reason = hasProof ? "a digest is declared and must match" : "none is required"
      return RuleVerdict("require_digest", hasProof ? .applies : .silent, reason)
    }
    return RuleVerdict(
      "require_digest",
      hasProof ? .allowed : .refused,
      hasProof ? "a digest is declared" : "no digest that proves anything is declared"
    )
  }

  private func tierVerdict(_ entry: ManifestEntry) -> RuleVerdict? {
    guard let base = tier.url else { return nil }
    let name = "cache.remote"
    let host = "`\(base.authority)`"
    guard tier.isRead else { return RuleVerdict(name, .silent, "\(host) is only written to") }
    if entry.digests.count(where: { $0.algorithm == .sha256 }) == 1 {
      let reason = "\(host) is asked first, for the body of the declared digest"
      return RuleVerdict(name, .applies, reason)
    }
    guard tier.isTrusted else {
      let reason = "\(host) is not asked: no SHA-256 is declared, and `trust` is not set"
      return RuleVerdict(name, .silent, reason)
    }
    return RuleVerdict(name, .applies, "\(host) is asked first, for what the server last said")
  }

  private func sizeVerdict(_ entry: ManifestEntry, _ segment: SegmentDeclaration) -> RuleVerdict {
    guard let limit = segment.maximumFileSize ?? maximumFileSize else {
      return RuleVerdict("max_file_size", .silent, "there is no limit")
    }
    guard let size = entry.size else {
      return RuleVerdict(
        "max_file_size",
        .applies,
        "at most \(SizeText.format(limit: limit)); the size is not declared"
      )
    }
    let sizes = SizeText.format(together: [size, limit])
    return RuleVerdict(
      "max_file_size",
      size > limit ? .refused : .allowed,
      "\(sizes[0]) are declared, \(SizeText.format(limit: limit)) allowed"
    )
  }
}

extension RunPolicy {
  package func account(
    of url: WebURL,
    for purpose: RequestPurpose,
    at now: Instant
  ) -> TransportSecurity.Account {
    transportSecurity.account(
      of: url,
      for: purpose,
      isDeclared: connections.isNamed(url.host),
      at: now
    )
  }
}

// MARK: - Transport security in words

extension TransportSecurity {
  package struct Account: Hashable, Sendable {
    package var isAllowed: Bool
    /// Key or entry that applies to the host; also set for https.
    package var entry: String?
    package var reason: String
  }

  package func account(
    of url: WebURL,
    for purpose: RequestPurpose,
    isDeclared: Bool,
    at now: Instant
  ) -> Account {
    let basis = basis(of: url, for: purpose, at: now)
    if case .refused(_, let hint) = decide(url, for: purpose, isDeclared: isDeclared, at: now) {
      return Account(
        isAllowed: false,
        entry: basis.entry,
        reason: "plain http to `\(url.host)` is not allowed; \(hint)"
      )
    }
    let subject = url.scheme == .https ? "https" : "plain http"
    return Account(
      isAllowed: true,
      entry: basis.entry,
      reason: "\(subject); \(Self.words(for: basis))"
    )
  }

  private static func words(for basis: Basis) -> String {
    switch basis {
    case .rules: "the rules for all hosts apply"
    case .exception(_, let exception), .plainHTTP(_, let exception):
      "`\(basis.entry ?? "")` holds" + (exception.reason.map { ": \($0)" } ?? "")
    case .expired, .plainHTTPExpired:
      "`\(basis.entry ?? "")` has expired, so the rules for all hosts apply"
    case .localNetworking, .media, .webContent, .arbitraryLoads:
      "`\(basis.entry ?? "")` lifts the rules"
    }
  }
}
