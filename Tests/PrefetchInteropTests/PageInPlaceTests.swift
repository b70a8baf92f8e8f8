import PrefetchCore
import PrefetchTestSupport
import Testing

/// A login portal that responds to every request with 200 and its own page.
@Suite("A page in place of a stored item", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PageInPlaceTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  private func serve(_ text: String, type: String) {
    site["/news"] = Site.Page(text, headers: [HeaderField("Content-Type", type)])
  }

  private func declare(_ rules: String = "", item: String = "") {
    home.configure(
      """
      segments: [{ name: s, urls: [{ url: "\(server.address("/news"))"\(item) }]\(rules) }]
      cache: { min_free: 0 }
      """
    )
  }

  private var stored: String? {
    get throws { try home.run("get", "--offline", server.address("/news")).output }
  }

  private static let feed = "plain news, one a line"
  /// A fragment, as scripts insert it into pages, which no byte identifies as HTML.
  private static let page = "Please sign in"

  @Test(
    "A page in place of a stored item is refused, and the stored body stays",
    arguments: ["text/html; charset=utf-8", "application/xhtml+xml", "Text/HTML"]
  )
  func refused(type: String) throws {
    declare()
    serve(Self.feed, type: "text/plain")
    #expect(try home.run("-q").status == 0)
    serve(Self.page, type: type)
    let plan = try home.run("plan", "--json")
    #expect(plan.status == 3, "\(plan)")
    let run = try home.run("run", "--json")
    #expect(run.status == 3, "\(run)")
    #expect(try run.json().text("items.0.error.code") == "unexpected_content")
    #expect(try stored == Self.feed)
    let again = try home.run("--refetch")
    #expect(again.status == 0, "\(again)")
    #expect(try stored == Self.page)
  }

  @Test(
    "A page in place of a stored item is accepted where the declaration allows it",
    arguments: ["digest", "mime", "page", "expect"]
  )
  func allowed(by rule: String) throws {
    declare()
    serve(Self.feed, type: "text/plain")
    #expect(try home.run("-q").status == 0)
    serve(Self.page, type: "text/html")
    switch rule {
    case "digest": declare(item: ", sha256: \(Digest.hexadecimal(Self.page))")
    case "mime": declare(item: ", mime: text/html")
    case "page": declare(item: ", type: page")
    default: declare(", expect: { mime: [text/html] }")
    }
    let run = try home.run("-q")
    #expect(run.status == 0, "\(run)")
    #expect(try stored == Self.page)
  }

  @Test("A page may replace another page or a body without a type")
  func samePage() throws {
    declare()
    site["/news"] = Site.Page("an answer without a type")
    #expect(try home.run("-q").status == 0)
    for text in [Self.page, "another page"] {
      serve(text, type: "text/html")
      #expect(try home.run("-q").status == 0)
      #expect(try stored == text)
    }
  }
}
