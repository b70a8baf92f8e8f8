import PrefetchCore
import PrefetchDocuments

struct ReportJSON {
  let envelope: ReportEnvelope

  func write<Fault>(to sink: (RawSpan) throws(Fault) -> Void) throws(Fault) {
    let items = envelope.shownItems.lazy.map(item)
    try JSONWriter.write(members, with: items, as: Self.itemsKey, form: .pretty, to: sink)
  }

  /// Writes the document without items on the first line, then one item a line.
  func writeLines<Fault>(to sink: (RawSpan) throws(Fault) -> Void) throws(Fault) {
    let head = JSONValue.object(members.filter { $0.0 != Self.itemsKey })
    try JSONWriter.writeLines(CollectionOfOne(head), to: sink)
    try JSONWriter.writeLines(envelope.shownItems.lazy.map(item), to: sink)
  }

  private static let itemsKey = "items"

  /// Members of the document, in which the items are still missing.
  private var members: [(String, JSONValue)] {
    let report = envelope.report
    var members: [(String, JSONValue)] = [
      ("schema", "prefetch-report/1"),
      (
        "tool",
        [
          "name": .string(ToolVersions.name),
          "version": .string(ToolVersions.version),
          "libcurl": .string(envelope.tool.libcurl),
          "sqlite": .string(envelope.tool.sqlite),
          "openssl": .string(envelope.tool.openssl),
        ]
      ),
      ("run", run),
      ("result", .string(envelope.verdict.rawValue)),
      (
        "exit",
        .exit(
          envelope.exit,
          code: envelope.exitCode,
          isRetryable: envelope.isRetryable,
          nextAllowedAt: envelope.nextAllowedAt
        )
      ),
      ("totals", Self.totals(report.totals)),
      ("segments", .array(report.segments.map(segment))),
      (Self.itemsKey, []),
      ("network", NetworkWords.document(report)),
      ("remote", report.tier.map(remote) ?? .null),
      ("diagnostics", .array(envelope.diagnostics.map(diagnostic))),
    ]
    if report.mode == .plan { members.append(("drift", .array(report.segments.flatMap(drift)))) }
    return members
  }

  private func drift(_ segment: Report.Segment) -> [JSONValue] {
    segment.manifest.drift.map { drift in
      [
        "segment": text(segment.name),
        "change": .string(drift.change.rawValue),
        "url": .string(envelope.redacted(url: drift.url)),
      ]
    }
  }

  private var run: JSONValue {
    let report = envelope.report
    return [
      "id": .string(envelope.runID),
      "mode": .string(report.mode.rawValue),
      "shard": .optional(envelope.shard),
      "started": .time(report.started),
      "finished": .time(report.finished),
      "elapsed_ms": .milliseconds(report.elapsed),
      "config": [
        "identity": text(report.identity),
        "digest": .optional(envelope.configurationDigest()),
        "files": texts(envelope.configurationFiles),
      ],
      "host": text(envelope.host),
    ]
  }

  private func remote(_ tier: TierFigures) -> JSONValue {
    [
      "host": text(tier.host),
      "hits": .integer(tier.hits),
      "hit_bytes": .integer(tier.hitBytes),
      "answers": .integer(tier.originResponses),
      "misses": .integer(tier.misses),
      "written": .integer(tier.written),
      "written_bytes": .integer(tier.writtenBytes),
      "troubles": .integer(tier.troubles),
    ]
  }

  static func totalsText(_ totals: Totals) -> String {
    JSONWriter.string(Self.totals(totals))
  }

  private static func totals(_ totals: Totals) -> JSONValue {
    .object(members(of: totals))
  }

  static func members(of totals: Totals) -> [(String, JSONValue)] {
    [
      ("items", .integer(totals.items)),
      ("kept", .integer(totals.kept)),
      ("revalidated", .integer(totals.revalidated)),
      ("fetched", .integer(totals.fetched)),
      ("updated", .integer(totals.updated)),
      ("deferred", .integer(totals.deferred)),
      ("failed", .integer(totals.failed)),
      ("removed", .integer(totals.removed)),
      ("retained", .integer(totals.retained)),
      ("requests", .integer(totals.requests)),
      ("not_modified", .integer(totals.notModified)),
      ("retries", .integer(totals.retries)),
      ("bytes_wire", .integer(totals.bytesWire)),
      ("bytes_body", .integer(totals.bytesBody)),
      ("bytes_stored", .integer(totals.bytesStored)),
      ("bytes_saved", .integer(totals.bytesSaved)),
      ("bytes_saved_by_validators", .integer(totals.bytesConfirmed)),
      ("bytes_saved_by_digests", .integer(totals.bytesPinned)),
    ]
  }

  private func segment(_ segment: Report.Segment) -> JSONValue {
    let manifest = segment.manifest
    return [
      "name": text(segment.name),
      "state": .string(segment.state.rawValue),
      "priority": .optional(segment.priority),
      "manifest": [
        "url": .optional(manifest.url.map { envelope.redacted(url: $0) }),
        "status": .string(manifest.status.rawValue),
        "http_status": .optional(manifest.httpStatus),
        "bytes": .optional(manifest.bytes),
        "error": failure(manifest.failure),
      ],
      "totals": Self.totals(segment.totals),
      "deferred": .deferral(segment.deferral),
      "published": .published(segment.tree),
    ]
  }

  private func item(_ item: ItemResult) -> JSONValue {
    let figures = item.figures
    return [
      "url": .string(envelope.redacted(url: item.url)),
      "id": text(item.id),
      "provider": .optional(item.provider.map { envelope.redacted($0) }),
      "segments": texts(item.segments),
      "origin": .optional(origin(of: item)?.rawValue),
      "type": .optional(item.type.map { envelope.redacted($0) }),
      "title": .optional(item.title.map { envelope.redacted($0) }),
      "state": .string(item.state.rawValue),
      "action": .string(item.action.rawValue),
      "outcome": .optional(item.outcome?.rawValue),
      "reason": text(item.reason),
      "source": .optional(item.source?.rawValue),
      "status": .optional(item.status),
      "attempts": .integer(Int64(item.attempts)),
      "http_version": .optional(figures?.httpVersion),
      "remote_ip": .optional(figures?.remoteAddress),
      "bytes": .optional(item.size),
      "request_bytes": .optional(figures?.requestBytes),
      "response_bytes": .optional(figures?.wireBytes),
      "started": .time(figures?.started),
      "ttfb_ms": .milliseconds(figures?.firstByte),
      "dns_ms": .milliseconds(figures?.dns),
      "connect_ms": .milliseconds(figures?.connect),
      "tls_ms": .milliseconds(figures?.tls),
      "duration_ms": .milliseconds(figures?.total),
      "redirects": .array(
        item.redirects.map { hop in
          [
            "status": .integer(Int64(hop.status)),
            "url": .string(envelope.redacted(url: hop.url.string)),
          ]
        }
      ),
      "sources": .array(item.sources.map(source)),
      "final_url": .optional(item.finalURL.map { envelope.redacted(url: $0) }),
      "digest": .optional(item.digest?.description),
      "path": .optional(item.isUsable ? item.digest.map(envelope.objectPath) : nil),
      "error": failure(item.failure ?? item.emptiness ?? (item.isInterrupted ? Self.stopped : nil)),
      "deferred": .deferral(item.deferral),
    ]
  }

  /// Failure that the SDKs reported here; for the exit status it is a deferral.
  private static let stopped = Failure(.cancelled, "the run was stopped", isTransient: true)

  /// Returns the item's origin; unknown for a removed item without a segment here.
  private func origin(of item: ItemResult) -> ItemOrigin? {
    guard item.segments.isEmpty else { return .segment }
    return envelope.report.mode == .get ? .onDemand : nil
  }

  private func source(_ source: SourceResult) -> JSONValue {
    [
      "url": .string(envelope.redacted(url: source.url.string)),
      "status": .optional(source.status),
      "error": failure(source.failure),
    ]
  }

  private func diagnostic(_ diagnostic: Diagnostic) -> JSONValue {
    .diagnostic(diagnostic.masked(needles: envelope.secrets))
  }

  private func text(_ text: String) -> JSONValue {
    .string(envelope.redacted(text))
  }

  private func texts(_ texts: [String]) -> JSONValue {
    .strings(texts.map { envelope.redacted($0) })
  }

  private func failure(_ failure: Failure?) -> JSONValue {
    guard let failure else { return .null }
    var members: [(String, JSONValue)] = [
      ("code", .string(failure.code.rawValue)), ("message", text(failure.message)),
      ("retryable", .bool(failure.isTransient)), ("sdk_code", .optional(failure.code.sdkCode)),
    ]
    if let vast = failure.vast { members.append(("vast", .integer(Int64(vast)))) }
    return .object(members)
  }
}

extension ErrorCode {
  /// Number of the same error in the phone SDKs.
  fileprivate var sdkCode: Int? {
    switch self {
    case .timeout: -1101
    case .cacheFull: -1108
    case .notFound: -1112
    case .badResponse: -1114
    case .corrupted, .digestMismatch: -1115
    case .failed: -1116
    case .http, .gone: -1119
    case .notInManifest: -1121
    case .cancelled: -3072
    default: nil
    }
  }
}
