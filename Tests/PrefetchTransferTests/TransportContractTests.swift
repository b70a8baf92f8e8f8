import PrefetchCore
import PrefetchTestSupport
import PrefetchTransfer
import Testing

/// Contract of a transport, checked on the real one and on the tests' fake.
@Suite("Every transport", .timeLimit(.minutes(10)))
struct TransportContractTests {
  enum Kind: CaseIterable {
    case curl
    case fake
  }

  private let site = Site(["/a": Site.Page("0123456789"), "/gone": Site.Page([], status: 410)])
  private let staging = MemoryStaging()
  private let server: LoopbackServer

  init() throws {
    let site = self.site
    server = try LoopbackServer { site.respond(to: $0) }
  }

  private func result(_ kind: Kind, _ request: TransferRequest) throws -> TransferResult {
    let clock = RunningClock()
    let transport: any Transport =
      switch kind {
      case .curl:
        try CurlTransport(
          settings: TransportSettings(userAgent: "test"),
          staging: staging,
          clock: clock
        )
      case .fake:
        FakeTransport(staging: staging, site: site)
      }
    transport.start(request)
    let limit = clock.now().uptime + .seconds(30)
    while clock.now().uptime < limit {
      for case .finished(request.id, let result) in transport.wait(until: limit) {
        return result
      }
    }
    throw Failure(.timeout, "the transfer did not end")
  }

  private func request(_ path: String, _ headers: [HeaderField] = []) throws -> TransferRequest {
    TransferRequest(id: TransferID(1), url: try server.url(path), headers: headers)
  }

  @Test("A complete response stages its body", arguments: Kind.allCases)
  func whole(kind: Kind) throws {
    let response = try result(kind, request("/a")).outcome.get()
    #expect(response.status == 200)
    #expect(response.headers["ETag"] == site["/a"]?.entityTag)
    #expect(staging.bytes(of: try #require(response.body)) == Array("0123456789".utf8))
  }

  @Test("A known validator brings 304 and no body", arguments: Kind.allCases)
  func unchanged(kind: Kind) throws {
    let tag = try #require(site["/a"]?.entityTag)
    let request = try request("/a", [HeaderField("If-None-Match", tag)])
    let response = try result(kind, request).outcome.get()
    #expect(response.status == 304)
    #expect(response.body == nil)
  }

  @Test("A range gives its part only when its condition holds", arguments: Kind.allCases)
  func part(kind: Kind) throws {
    let tag = try #require(site["/a"]?.entityTag)
    for (condition, status, size) in [(tag, 206, 3), ("\"other\"", 200, 10)] {
      let fields = [HeaderField("Range", "bytes=7-"), HeaderField("If-Range", condition)]
      let response = try result(kind, request("/a", fields)).outcome.get()
      #expect(response.status == status)
      #expect(response.body?.size == Int64(size))
    }
  }

  @Test("Other statuses are responses without a body", arguments: Kind.allCases)
  func others(kind: Kind) throws {
    for (path, status) in [("/gone", 410), ("/missing", 404)] {
      let response = try result(kind, request(path)).outcome.get()
      #expect(response.status == status)
      #expect(response.body == nil)
    }
  }

  @Test("A kept part is continued, replaced, or found complete", arguments: Kind.allCases)
  func continuation(kind: Kind) throws {
    let tag = try #require(site["/a"]?.entityTag)
    let type = HeaderField("Content-Type", "text/x-first")
    let head = HeaderBlock([type, HeaderField("ETag", tag), HeaderField("Age", "7")])
    for (validator, kept, status) in [(tag, 4, 206), ("\"other\"", 4, 200), (tag, 10, 416)] {
      var request = try request("/a")
      var part = PartialBody(source: request.url.string, validator: validator, offset: 0)
      part.head = head
      let plan = BodyPlan(partialKey: "key", resumption: .with(part))
      let sink = try staging.beginBody(plan)
      unsafe try sink.append(Array("0123456789".utf8.prefix(kept)).span.bytes)
      part = try #require(sink.suspend())
      request.partialKey = "key"
      request.partial = part
      let response = try result(kind, request).outcome.get()
      #expect(response.status == status)
      #expect(staging.bytes(of: try #require(response.body)) == Array("0123456789".utf8))
      #expect(staging.partials.isEmpty)
      #expect(response.headers.all("ETag") == [tag])
      #expect(status == 200 || response.headers.all("Content-Length") == ["10"])
      #expect(!response.headers.has("Content-Range"))
      #expect(!response.headers.has("Age"))
      #expect((response.headers["Content-Type"] == type.value) == (status != 200))
    }
  }

  @Test("The size limit is enforced", arguments: Kind.allCases)
  func sizeLimit(kind: Kind) throws {
    var request = try request("/a")
    request.sizeLimit = 9
    guard case .failure(let failure) = try result(kind, request).outcome else {
      Issue.record("the body was accepted")
      return
    }
    #expect(failure.code == .tooLarge)
  }
}
