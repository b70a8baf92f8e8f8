import PrefetchCore
import PrefetchTestSupport
import Testing

/// Lists that a forge redirects to a signed address of another host.
@Suite("A list of bare names behind a redirect", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ListLocationTests {
  private let home: Home
  private let forge: LoopbackServer
  private let store: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    let store = try LoopbackServer(number: 2) { request in
      switch request.path {
      case "/blob/SHA256SUMS":
        return .respond(200, text: "\(Digest.hexadecimal("body"))  app.tar\n")
      case "/blob/list.urls": return .respond(200, text: "app.tar\n")
      default: return .respond(403, text: "signed addresses only")
      }
    }
    self.store = store
    forge = try LoopbackServer { request in
      switch request.path {
      case "/v1/SHA256SUMS", "/v1/list.urls":
        let name = request.path.split(separator: "/").last ?? ""
        return .respond(302, [("Location", store.address("/blob/\(name)?signature=x"))])
      case "/v1/app.tar": return .respond(200, text: "body")
      default: return .respond(404)
      }
    }
  }

  private func mirror(_ list: String) throws -> ProgramRun {
    try home.run(
      "mirror",
      forge.address(list),
      "dir",
      "--set",
      "transport_security.NSAllowsLocalNetworking=true",
      "--set",
      "cache.min_free=0"
    )
  }

  @Test(
    "A list behind a redirect names files beside the address that was requested",
    arguments: [("SHA256SUMS", "app.tar"), ("list.urls", "v1/app.tar")]
  )
  func requestedAddress(list: String, file: String) throws {
    let run = try mirror("/v1/\(list)")
    #expect(run.status == 0, "\(run)")
    #expect(home.read("dir/\(file)") == "body")
    #expect(forge.requests.map(\.path) == ["/v1/\(list)", "/v1/app.tar"])
    #expect(store.requests.map(\.path) == ["/blob/\(list)"])
    let again = try mirror("/v1/\(list)")
    #expect(again.status == 0, "\(again)")
  }
}
