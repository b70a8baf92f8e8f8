import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "Servers with certificates, as a configuration judges them",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct TrustServerTests {
  /// Rows without those that a mapping of hosts cannot express.
  private static let rows = TrustRow.all.filter { row in
    guard let ground = try? TrustGround.shared.get() else { return true }
    let pins = rules(row, ground).pins
    return pins.count < 2 && pins.allSatisfy { $0.leaf?.isEmpty != true }
  }

  private static func rules(_ row: TrustRow, _ ground: TrustGround) -> ConnectionRules {
    var rules = ConnectionRules()
    row.rules(ground, &rules)
    return rules
  }

  @Test("The table of servers has enough rows")
  func count() {
    #expect(Self.rows.count >= 60)
  }

  @Test("A server is requested or refused, with the expected exit status", arguments: rows)
  func row(_ row: TrustRow) throws {
    let ground = try TrustGround.shared.get()
    let rules = Self.rules(row, ground)
    let server = try TLSServer(try row.server(ground))
    let home = try Home(isInMemory: true)
    home.write(configuration(row, rules, try server.url("/secret", host: row.host), ground))
    let run = try home.run("--json", "--items", "all")
    let report = try run.json()
    switch row.outcome {
    case .accepted:
      #expect(run.status == 0, "\(run)")
      #expect(server.record.requests == 1)
    case .refused(.permission, _):
      // The file cannot be read, so that no request is sent.
      #expect(run.status == 78, "\(run)")
      #expect(server.record.bytes == 0)
    case .refused(let code, let words):
      #expect(run.status == status(code), "\(run)")
      #expect(report.text("items.0.error.code") == code.rawValue)
      let message = report.text("items.0.error.message") ?? ""
      #expect(message.contains(words.replacing("`tls.pins.here`", with: "`tls.pins")))
      #expect(server.record.bytes == 0, "the server has read of the request")
      #expect(FileTree.objects(home.cache).isEmpty)
    case .failed(let code):
      #expect(run.status == status(code), "\(run)")
      #expect(report.text("items.0.error.code") == code.rawValue)
      #expect(FileTree.objects(home.cache).isEmpty)
    }
    let isReported = rules.pins.contains { $0.onlyReports && !$0.accepts([ground.rsa.digest]) }
    #expect(!isReported || run.output.contains(ground.rsa.digest.pinText), "\(run)")
  }

  private func status(_ code: ErrorCode) -> Int32 {
    switch code.category {
    case .trust: 5
    case .connectivity: 69
    case .io: 74
    case .denied: 77
    case .content: 4
    }
  }

  private func configuration(
    _ row: TrustRow,
    _ rules: ConnectionRules,
    _ url: WebURL,
    _ ground: TrustGround
  ) -> String {
    var lines = [
      "segments: [{ name: s, urls: [\"\(url.string)\"] }]",
      "tls:",
      "  ca_file: \"\(ground.authorities)\"",
    ]
    if rules.minimumTLS == .tls13 { lines.append("  min_version: 1.3") }
    if let client = rules.client {
      lines += [
        "  client:",
        "    \"\(url.authority)\": { certificate: \"\(client.certificate)\", key: \"\(client.key)\" }",
      ]
    }
    if let pin = rules.pins.first {
      lines += ["  pins:", "    \"\(row.host)\":"]
      lines += list("leaf", pin.leaf) + list("ca", pin.authority)
      if pin.onlyReports { lines.append("      report_only: true") }
    }
    lines += exception(row.host, rules)
    lines += ["network:", "  retries: { items: 0, lookups: 0 }"]
    if case .refused(.timeout, _) = row.outcome { lines.append("  timeouts: { connect: 0.2s }") }
    return lines.joined(separator: "\n") + "\n"
  }

  private func list(_ name: String, _ keys: Set<ContentDigest>?) -> [String] {
    guard let keys else { return [] }
    return ["      \(name): [\(keys.map { "\"\($0.pinText)\"" }.joined(separator: ", "))]"]
  }

  private func exception(_ host: String, _ rules: ConnectionRules) -> [String] {
    var keys: [String] = []
    if !rules.requiresForwardSecrecy { keys.append("NSExceptionRequiresForwardSecrecy: false") }
    if rules.minimumTLS < .tls12 {
      let version = rules.minimumTLS == .tls10 ? "TLSv1.0" : "TLSv1.1"
      keys += ["NSExceptionMinimumTLSVersion: \(version)", "legacy_tls: true"]
    }
    guard !keys.isEmpty else { return [] }
    return [
      "transport_security:", "  NSExceptionDomains:",
      "    \"\(host)\": { \(keys.joined(separator: ", ")) }",
    ]
  }
}
