import PrefetchCore
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("Servers with certificates", .timeLimit(.minutes(10)))
struct TrustTests {
  @Test("The table of servers has enough rows, and no two alike")
  func count() {
    #expect(TrustRow.all.count >= 60)
    #expect(Set(TrustRow.all.map(\.name)).count == TrustRow.all.count)
  }

  @Test("A server is accepted or refused, for the expected reason", arguments: TrustRow.all)
  func row(_ row: TrustRow) throws {
    let ground = try TrustGround.shared.get()
    let server = try TLSServer(try row.server(ground))
    let bench = try TransferBench { settings in
      settings.caFile = ground.authorities
      settings.workers = 1
      if case .refused(.timeout, _) = row.outcome { settings.connectTimeout = .milliseconds(100) }
    }
    var rules = ConnectionRules()
    row.rules(ground, &rules)
    let hasDefaults = rules == ConnectionRules()
    let url = try server.url("/secret", host: row.host)
    let result = try bench.result(
      of: bench.request(url) { $0.connection = hasDefaults ? nil : Shared(rules) }
    )
    let record = server.record
    switch (row.outcome, result.outcome) {
    case (.accepted, .success(let response)):
      #expect(response.status == 200)
      #expect(record.requests == 1)
      let isUnexpected = rules.pins.contains { $0.onlyReports && $0.leaf != [ground.rsa.digest] }
      #expect(result.figures.unexpectedKey == (isUnexpected ? ground.rsa.digest : nil))
      #expect(record.sawClientCertificate == (rules.client != nil))
    case (.refused(let code, let words), .failure(let failure)):
      #expect(failure.code == code, "\(failure.message)")
      #expect(failure.message.contains(words), "\(failure.message)")
      #expect(failure.message.contains("`\(url.host):\(url.port)`") || code == .permission)
      #expect(record.bytes == 0, "the server has read of the request")
      #expect(failure.code.category != .trust || !failure.isTransient)
    case (.failed(let code), .failure(let failure)):
      #expect(failure.code == code, "\(failure.message)")
    case (_, .success):
      Issue.record("it was asked")
    case (_, .failure(let failure)):
      Issue.record("it was not asked: \(failure.code) \(failure.message)")
    }
  }
}
