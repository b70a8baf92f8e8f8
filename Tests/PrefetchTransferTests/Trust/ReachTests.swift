import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchTransfer

@Suite("The reach of connections", .timeLimit(.minutes(10)))
struct ReachTests {
  private static func rules(_ reach: ConnectionRules.Reach) -> Shared<ConnectionRules> {
    var rules = ConnectionRules()
    rules.reach = reach
    return Shared(rules)
  }

  @Test("No connection is made to this machine where only public addresses are allowed")
  func localRefused() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench()
    for host in ["127.0.0.1", "localhost", "a.localhost"] {
      let url = try WebURL("http://\(host):\(server.port)/")
      let failure = try bench.failure(
        of: bench.request(url) { $0.connection = Self.rules(.publicOnly) }
      )
      #expect(failure.code == .addressForbidden, "\(failure.message)")
      #expect(failure.message.contains("`\(host):\(server.port)` has "), "\(failure.message)")
      #expect(failure.message.contains("127.0.0.1") || failure.message.contains("::1"))
      #expect(!failure.isTransient)
    }
    #expect(server.connectionCount == 0)
  }

  @Test("A kept connection to this machine is not used for a public-only request")
  func keptConnection() throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench { $0.workers = 1 }
    let first = bench.request(try server.url())
    #expect(try bench.response(to: first).status == 200)
    let second = bench.request(try server.url()) { $0.connection = Self.rules(.publicOnly) }
    #expect(try bench.failure(of: second).code == .addressForbidden)
    #expect(server.requests.count == 1)
    let third = bench.request(try server.url()) { $0.connection = Self.rules(.localOnly) }
    let result = try bench.result(of: third)
    #expect(try result.outcome.get().status == 200)
    #expect(result.figures.remoteAddress == "127.0.0.1")
  }

  @Test("A proxy may be anywhere, and hosts that are exempt from it may not")
  func proxies() throws {
    let proxy = try LoopbackServer { _ in .respond(200, text: "from the proxy") }
    let bench = try TransferBench { settings in
      settings.proxy = .environment(
        http: "http://127.0.0.1:\(proxy.port)",
        https: nil,
        exceptions: "tree.localhost, 127.0.0.0/8"
      )
    }
    let through = bench.request(try WebURL("http://example.com/")) {
      $0.connection = Self.rules(.publicOnly)
    }
    #expect(try bench.text(of: bench.response(to: through)) == "from the proxy")
    for host in ["a.tree.localhost", "127.0.0.1"] {
      let direct = bench.request(try WebURL("http://\(host):\(proxy.port)/")) {
        $0.connection = Self.rules(.publicOnly)
      }
      #expect(try bench.failure(of: direct).code == .addressForbidden)
    }
    #expect(proxy.requests.count == 1)
  }

  @Test(
    "A list of proxy exceptions is read as curl reads it",
    arguments: [
      ("", "example.com", false), ("*", "example.com", true), ("*", "[::1]", true),
      ("example.com,*", "other.com", false), ("*, other.com", "127.0.0.1", false),
      ("example.com", "example.com", true), ("example.com", "www.example.com", true),
      ("example.com", "notexample.com", false), (".example.com", "example.com", true),
      (".example.com", "a.example.com", true), ("a.example.com", "example.com", false),
      ("EXAMPLE.com", "example.com", true), ("one, example.com", "example.com", true),
      ("one example.com", "example.com", true), ("example.com.", "example.com", true),
      ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
      ("127.0.0.0/8", "127.1.2.3", true), ("127.0.0.0/8", "128.0.0.1", false),
      ("10.0.0.0/33", "10.0.0.0", false), ("10.0.0.0/", "10.0.0.0", false),
      ("::1", "[::1]", true), ("[::1]", "[::1]", true), ("fd00::/8", "[fd00::5]", true),
      ("0.0.1", "127.0.0.1", false),
    ]
  )
  func exceptions(list: String, host: String, isExcepted: Bool) {
    #expect(ProxyExceptions(list).contain(host) == isExcepted)
  }
}
