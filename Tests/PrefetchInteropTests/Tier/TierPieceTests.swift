import PrefetchCore
import PrefetchTestSupport
import Testing

/// A URL behind a shared store as an item and as a piece of a stream, in one table.
@Suite("A piece behind a second tier", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct TierPieceTests {
  enum Form: String, Sendable, CaseIterable {
    case item, piece
  }

  /// Situation when the second machine arrives.
  enum Case: String, Sendable, CaseIterable {
    /// The store has the record of a redirect and the target's body.
    case served
    /// The store has a record without a redirect.
    case usual = "usual"
    /// The store has lost the body that the record names.
    case lost
    /// The record leads to another host, which a rule forbids.
    case forbidden
    /// The record leads to where the origin has nothing any more.
    case leadsNowhere
    /// The store answers every request with 500.
    case broken
    /// The store sends other bytes than those of the named digest.
    case wrong

    var status: Int32 { self == .forbidden ? 5 : 0 }

    /// Expected requests to the origin.
    var requests: [String] {
      switch self {
      case .served, .usual, .forbidden: []
      case .lost: ["/a"]
      case .leadsNowhere: ["/a", "/c"]
      case .broken, .wrong: ["/a", "/b"]
      }
    }

    var body: String? {
      switch self {
      case .forbidden: nil
      case .lost, .leadsNowhere: "new"
      case .served, .usual, .broken, .wrong: "old"
      }
    }
  }

  private let ground: TierGround

  init() throws {
    ground = try TierGround()
  }

  private func put(_ path: String, _ text: String, to target: String? = nil) {
    var headers = [HeaderField("Cache-Control", "max-age=3600")]
    if let target { headers.append(HeaderField("Location", target)) }
    let body = Array(text.utf8)
    ground.site[path] = Site.Page(body, headers: headers, status: target == nil ? 200 : 302)
  }

  private func machine(_ form: Form, _ mode: String, _ more: String = "") throws -> Home {
    let home = try Home(isInMemory: true)
    let url = ground.origin.address(form == .item ? "/a" : "/film.m3u8")
    let type = form == .item ? "" : ", type: hls"
    home.configure(
      """
      segments: [{ name: s, urls: [{ url: "\(url)", id: x\(type) }] }]
      cache:
        min_free: 0
        remote: { url: "\(ground.tier.address("/t"))", mode: \(mode), trust: true }
      network: { retries: { items: 0, lookups: 0 } }
      \(more)
      """
    )
    return home
  }

  @Test(
    "A piece of a stream is requested from a second tier as an item is",
    arguments: Case.allCases,
    Form.allCases
  )
  func same(in test: Case, as form: Form) throws {
    put("/film.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na\n#EXT-X-ENDLIST\n")
    if test == .usual {
      put("/a", "old")
    } else {
      put("/a", "", to: "/b")
      put("/b", "old")
    }
    let first = try machine(form, "read_write").run("run")
    #expect(first.status == 0, "\(first)")
    _ = ground.drainRequests()
    let second = try machine(
      form,
      "read",
      test == .forbidden ? "redirects: { cross_host: false }" : ""
    )
    try trouble(test)
    let run = try second.run("--json")
    #expect(run.status == test.status, "\(run)")
    let requests = ground.drainRequests().filter { $0 != "/film.m3u8" }
    #expect(requests == test.requests, "\(run)")
    let code = try run.json().text("items.0.error.code")
    #expect(code == (test == .forbidden ? "redirect_forbidden" : nil))
    let objects = FileTree.objects(second.cache)
    for text in ["old", "new"] {
      #expect((objects[Digest.hexadecimal(text)] != nil) == (text == test.body), "\(text): \(run)")
    }
    #expect(try second.run("verify", "-q").status == 0)
  }

  private func trouble(_ test: Case) throws {
    let store = ground.store
    let body = Digest.hexadecimal("old")
    switch test {
    case .served, .usual: break
    case .lost:
      for path in store.files.keys where path.hasSuffix(body) { store.files[path] = nil }
      put("/a", "new")
      put("/b", "other")
    case .forbidden:
      for (path, bytes) in store.files where path.contains("/ac/") {
        let text = String(decoding: bytes, as: UTF8.self)
        let target = text.replacing(ground.origin.address("/b"), with: "http://localhost:1/b")
        store.files[path] = Array(target.utf8)
      }
    case .leadsNowhere:
      for path in store.files.keys where path.hasSuffix(body) { store.files[path] = nil }
      ground.site["/b"] = nil
      put("/a", "", to: "/c")
      put("/c", "new")
    case .broken:
      store.behave { _, _ in .respond(500) }
    case .wrong:
      for path in store.files.keys where path.hasSuffix(body) {
        store.files[path] = Array("bad".utf8)
      }
    }
  }
}
