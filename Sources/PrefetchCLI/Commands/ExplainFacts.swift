import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// All facts about an item that `explain` shows.
struct ExplainFacts {
  var url: WebURL
  var item: CachedItem?
  var history: [HistoryEntry] = []
  var segments: [String] = []
  var rules: [RuleVerdict]
  var security: TransportSecurity.Account
  var connection: ConnectionRules
  /// All pins for the item's host, expired ones included.
  var pins: [PinTable.Rule]
  var decision: ItemAction
  var isLeftOut = false
  var reason: String
  var isFreshnessStated = false
  var now: Instant
  var bodies: BodyPaths
  var bodilessState: (state: ItemState, reason: String)?
  var progress: ItemProgress?
  var grants: [FreshnessGrant] = []
  var absence: Absence?
  var negativeTimeToLive = Duration.zero

  var freshness: FreshnessAccount? {
    item.flatMap { FreshnessAccount($0.record, grants: grants, at: now) }
  }

  /// Says in the decision that every run asks, in place of "stale".
  mutating func setFreshness(_ account: FreshnessAccount, of reason: PlanReason) {
    switch reason {
    case .stale: self.reason = account.line
    case .noValidators: self.reason = "\(account.line), and the server gave no validators"
    default: return
    }
    isFreshnessStated = true
  }

  /// Time until which `get` and `serve` trust the remembered absence.
  private var absenceEnd: Instant? {
    guard let end = absence?.end(lasting: negativeTimeToLive), let absence, now < end else {
      return nil
    }
    if let respondedAt = item?.record.validatedAt, respondedAt >= absence.since { return nil }
    return end
  }
}

// MARK: - As a document

extension ExplainFacts {
  func document() -> JSONValue {
    [
      "schema": "prefetch-explain/1",
      "url": .string(url.redacted),
      "item": item?.json(bodies: bodies) ?? .null,
      "files": .array(files.map(json)),
      "history": .array(history.map(Self.json)),
      "segments": .strings(segments),
      "state": .optional((bodilessState?.state ?? item?.record.state)?.rawValue),
      "state_reason": .optional(bodilessState?.reason ?? item?.record.failure?.message),
      "rules": .array(
        rules.map { rule in
          [
            "rule": .string(rule.rule), "verdict": .string(rule.verdict.rawValue),
            "reason": .string(rule.reason),
          ]
        }
      ),
      "security": [
        "decision": .string(security.isAllowed ? "allowed" : "refused"),
        "entry": .optional(security.entry),
        "reason": .string(security.reason),
        "minimum_tls": .string(connection.minimumTLS.number),
        "forward_secrecy": .bool(connection.requiresForwardSecrecy),
      ],
      "pins": .array(pins.map(json)),
      "freshness": [
        "state": .optional(freshness?.state), "fresh_until": .time(freshness?.until),
        "rule": .optional(freshness?.rule),
      ],
      "absence": absenceEnd.map { end in
        [
          "since": .time(absence?.since), "status": .optional(absence?.status),
          "asked_again_at": .time(end),
        ]
      } ?? .null,
      "decision": .string(decision.rawValue),
      "reason": .string(reason),
      "progress": progress?.document ?? .null,
    ]
  }

  /// Files of a bundle: first the played ones, then the ones that only runs read.
  private var files: [BundleFile] {
    let files = item?.record.files ?? []
    return files.filter(\.isShown) + files.filter { !$0.isShown }
  }

  private func json(_ file: BundleFile) -> JSONValue {
    [
      "name": .optional(file.name.isEmpty ? nil : file.name),
      "url": .optional(file.key.isEmpty ? nil : Redaction.url(file.key)),
      "size": .integer(file.size), "digest": .string("\(file.digest)"),
      "path": .string(bodies.path(of: file.digest)), "waits": .bool(file.isReserved),
    ]
  }

  static func json(_ entry: HistoryEntry) -> JSONValue {
    [
      "time": .time(entry.at), "run": .string(entry.run), "action": .string(entry.action.rawValue),
      "outcome": .string(entry.outcome.rawValue), "reason": .optional(entry.reason),
    ]
  }

  private func json(_ pin: PinTable.Rule) -> JSONValue {
    [
      "host": .string(pin.host), "entry": .string(pin.location),
      "subdomains": .bool(pin.includesSubdomains), "leaf": Self.keys(pin.leaf),
      "ca": Self.keys(pin.authority), "report_only": .bool(pin.onlyReports),
      "expires": .time(pin.expires), "expired": .bool(pin.isOver(at: now)),
    ]
  }

  private static func keys(_ digests: [ContentDigest]?) -> JSONValue {
    guard let digests else { return .null }
    return .strings(digests.map { Base64.encode($0.bytes) }.sorted())
  }
}

// MARK: - As text

extension ExplainFacts {
  func lines() -> [String] {
    var lines = ["url        \(url.redacted)"]
    let names = segments.map { SafeText.line($0) }.joined(separator: ", ")
    lines.append("segments   \(segments.isEmpty ? "none" : names)")
    let verdict = security.isAllowed ? "allowed" : "refused"
    let entry = security.entry.map { " by `\(SafeText.line($0))`" } ?? ""
    lines.append("security   \(verdict)\(entry): \(SafeText.line(security.reason))")
    lines += recordLines()
    if let progress { lines.append("progress   \(progress.words)") }
    lines += files.map { file in
      let name = file.isShown ? file.name : Redaction.url(file.key)
      let waits = file.isReserved ? ", waits for the rest" : ""
      return
        "file       \(SafeText.line(name)): \(Amounts.bytes(file.size)), \(file.digest)\(waits)"
    }
    lines += rules.dropFirst().map { rule in
      "rule       \(rule.rule) (\(rule.verdict == .silent ? "not set" : rule.verdict.rawValue)): \(SafeText.line(rule.reason))"
    }
    lines += pins.map(line)
    lines += history.map(Self.line)
    if let absence, let end = absenceEnd {
      lines.append(
        "absent     since \(Timestamp.format(absence.since)) (\(absence.status)), asked again at \(Timestamp.format(end))"
      )
    }
    let word = isLeftOut ? "" : "\(decision.rawValue): "
    lines.append("decision   \(word)\(SafeText.line(reason))")
    return lines
  }

  private func recordLines() -> [String] {
    if let bodilessState {
      return ["state      \(bodilessState.state.rawValue): \(SafeText.line(bodilessState.reason))"]
    }
    guard let record = item?.record else { return ["state      not in the cache"] }
    var lines = ["state      \(record.state.rawValue)"]
    if let zone = AdSpace.zone(ofRecord: record.url) {
      lines.append("ad space   \(SafeText.line(zone))")
    }
    if let title = record.caption.title { lines.append("title      \(SafeText.line(title))") }
    if let info = record.caption.info { lines.append("info       \(SafeText.line(info))") }
    if let digest = record.digest {
      lines.append("body       \(Amounts.bytes(record.size)), \(digest)")
      lines.append("path       \(bodies.path(of: digest))")
    }
    if let fetched = record.fetchedAt { lines.append("fetched    \(Timestamp.format(fetched))") }
    if let validated = record.validatedAt {
      lines.append("confirmed  \(Timestamp.format(validated))")
    }
    // An item that is kept for its digest need not be fresh.
    if let freshness, !isFreshnessStated, decision != .keep || freshness.state != "stale" {
      lines.append("fresh      \(freshness.line)")
    }
    lines += record.hops.map { "redirect   from \(SafeText.line(Redaction.url($0.url)))" }
    if let tag = record.validators.entityTag {
      lines.append("etag       \(SafeText.line(HeaderText.readable(tag)))")
    }
    if let date = record.validators.lastModified {
      lines.append("modified   \(SafeText.line(date))")
    }
    if let failure = record.failure {
      lines.append("failure    \(SafeText.line(failure.message)) [\(failure.code.rawValue)]")
    }
    return lines
      + record.headers.fields.map {
        "header     \(SafeText.line("\($0.name): \(HeaderText.readable($0.value))"))"
      }
  }

  static func line(_ entry: HistoryEntry) -> String {
    "history    \(Timestamp.format(entry.at)) \(entry.action.rawValue) \(entry.outcome.rawValue): "
      + SafeText.line(entry.reason ?? "")
  }

  private func line(_ pin: PinTable.Rule) -> String {
    let pinStatus =
      pin.isOver(at: now)
      ? "over since \(Timestamp.format(pin.expires ?? now).prefix(10)), ignored"
      : pin.onlyReports ? "only reported" : "must match"
    let counts = [
      pin.leaf.map { "leaf: \($0.count)" }, pin.authority.map { "ca: \($0.count)" },
    ].compactMap(\.self).joined(separator: ", ")
    return "pin        \(SafeText.line(pin.location)): \(pinStatus) (\(counts))"
  }
}
