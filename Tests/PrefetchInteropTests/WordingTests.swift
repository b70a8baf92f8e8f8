import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// What the program says, and to whom.
@Suite("A message", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct WordingTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer

  init() throws {
    let site = Site()
    for name in ["one", "two"] { site["/\(name)"] = Site.Page("body of \(name)") }
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
  }

  private func configure(_ lines: String) {
    home.configure("cache: { min_free: 0 }\n\(lines)")
  }

  @Test(
    "tells what a word of other tools is called here",
    arguments: [
      ("ls", "list"), ("clean", "gc"), ("prune", "gc"), ("sync", "run"), ("export", "publish"),
      ("diff", "plan"), ("update", "run"), ("download", "get"),
    ]
  )
  func otherWords(word: String, command: String) throws {
    let run = try home.run(word)
    #expect(run.status == 64)
    #expect(run.errors.contains("hint: what you mean may be `prefetch \(command)`"), "\(run)")
  }

  @Test("names a line for each library")
  func version() throws {
    let run = try home.run("--version")
    let names = run.lines.map { $0.prefix { $0 != " " } }
    #expect(
      names == [
        "prefetch", "libcurl", "sqlite", "openssl", "libyaml", "expat", "zlib", "libmicrohttpd",
        "libidn2",
      ]
    )
    #expect(
      run.lines.allSatisfy { $0.split(separator: " ").count == 2 && !$0.hasSuffix("unknown") }
    )
    #expect(try home.run("--version", "--json").json().text("libidn2")?.isEmpty == false)
  }

  @Test(
    "says why a URL is none, with the status that its page names",
    arguments: ["explain", "path"]
  )
  func badURL(command: String) throws {
    for (url, reason) in [
      ("http://[::1/x", "no valid name or address"), ("ftp://h.example/x", "the scheme `ftp`"),
      ("https://h.example:0/", "the port `0`"), ("https://h.example/\\", "U+5C"),
    ] {
      let run = try home.run(command, url)
      #expect(run.status == 64 && run.errors.contains(reason), "\(run)")
    }
    #expect(try home.run("help", command).output.contains("64 usage"))
    #expect(try home.run(command, "nosuch").status == 4)
  }

  @Test("of `-v` says one thing of each item")
  func detail() throws {
    configure("segments: [{ name: s, urls: [\(server.address("/one"))] }]")
    let first = try home.run("-v")
    #expect(first.errors.contains("added: \(server.address("/one")) (200)\n"), "\(first)")
    let second = try home.run("-v")
    #expect(second.errors.contains("unchanged: \(server.address("/one")) (304)\n"), "\(second)")
    site["/one"] = nil
    let third = try home.run("-v")
    let line = "failed: \(server.address("/one")) (404), the server answered 404\n"
    #expect(third.errors.contains(line), "\(third)")
  }

  @Test("of what a 404 prunes names the 404, and the rule that prunes it")
  func pruned() throws {
    configure("segments: [{ name: s, on_gone: remove, urls: [\(server.address("/one"))] }]")
    #expect(try home.run("-q").status == 0)
    site["/one"] = nil
    let plan = try home.run("plan")
    let run = try home.run("run", "-vv", "--items", "all", "--report", "json=report.json")
    let removal = "its server has it no more, and `on_gone` removes it"
    #expect(plan.output.contains(removal), "\(plan)")
    #expect(run.errors.contains("removed: \(server.address("/one")), \(removal)"), "\(run)")
    #expect(try home.run("log").output.contains(removal))
    for text in [plan.output, run.output, run.errors, home.read("report.json") ?? ""] {
      #expect(
        !text.contains("answered 410") && !text.contains("\"status\": 410")
          && !text.contains("declared no more"),
        "\(text)"
      )
    }
  }

  @Test("of a report has its columns below each other, whatever the states are")
  func columns() throws {
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - { name: here, urls: [\(server.address("/one"))] }
        - { name: gone, urls: ["http://127.0.0.1:\(LoopbackPort.free())/x"] }
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    for arguments in [["run"], ["run", "gone"]] {
      let run = try home.run(arguments)
      let rows = run.lines.filter { !$0.hasPrefix(" ") }
      let places = rows.map { row in row.firstRange(of: " item").map { row[..<$0.lowerBound].count }
      }
      #expect(rows.count > 1 && Set(places).count == 1, "\(run)")
    }
  }

  @Test("about an option that is none repeats nothing that may be its value")
  func mistypedOption() throws {
    for arguments in [
      ["config", "--license", "canary-key"], ["--license", "canary-key"],
      ["run", "--license=canary-key"], ["--api-key", "canary-key", "check"],
    ] {
      let run = try home.run(arguments)
      #expect(run.status == 64 && !"\(run)".contains("canary-key"), "\(run)")
      #expect(run.errors.contains("`PREFETCH_LICENSE`"), "\(run)")
    }
  }

  @Test("about XML of another kind does not call it a page")
  func otherXML() throws {
    home.write("<?xml version=\"1.0\"?><invoice/>", to: "list.xml")
    configure("segments: [{ name: s, manifest: list.xml }]")
    let run = try home.run("run")
    #expect(run.status == 4 && run.errors.contains("XML that begins with `<invoice>`"), "\(run)")
    #expect(!run.errors.contains("HTML"))
  }

  @Test("about a binary plist names the path of the key")
  func binaryPlist() throws {
    home.write(
      "import plistlib; plistlib.dump({'network': {'concurrency': 'x'}, 'segments': []}, "
        + "open('b.plist', 'wb'), fmt=plistlib.FMT_BINARY)",
      to: "make.py"
    )
    try #require(home.tool("python3", "make.py").status == 0)
    let run = try home.run("check", "-c", "b.plist")
    #expect(run.status == 78)
    #expect(run.errors.hasPrefix("b.plist: network.concurrency: error: "), "\(run)")
  }

  @Test(
    "about a name says what is wrong with it, and ends as the rule for it does",
    arguments: [
      ("./f", "bad_name", "the part `.`", 3), ("a\\u0009f", "bad_name", "U+0009", 3),
      ("a\\\\f", "bad_name", "a backslash", 3), ("a\\u0007f", "bad_name", "U+0007", 3),
      ("a//f", "bad_name", "an empty part", 3), ("../f", "unsafe_name", "leave the folder", 5),
      ("/f", "unsafe_name", "is absolute", 5),
    ] as [(String, String, String, Int32)]
  )
  func names(path: String, code: String, reason: String, status: Int32) throws {
    home.write(
      #"{"format":"prefetch-manifest","version":1,"items":["\#(server.address("/two"))","#
        + #"{"url":"\#(server.address("/one"))","path":"\#(path)"}]}"#,
      to: "list.json"
    )
    configure("segments: [{ name: s, manifest: list.json }]")
    let run = try home.run("run")
    #expect(run.status == status, "\(run)")
    #expect(run.errors.contains(reason) && run.errors.contains("[\(code)]"), "\(run)")
  }

  @Test("about options alone that declare a segment is that of a run")
  func withoutFile() throws {
    site["/list"] = Site.Page(server.address("/one"))
    let run = try home.run(
      "run",
      "--set",
      "segments.s.manifest=\(server.address("/list"))",
      "--set",
      "segments.s.format=list",
      "--set",
      "cache.min_free=0",
      "--set",
      "transport_security.NSAllowsLocalNetworking=true"
    )
    #expect(run.status == 0 && run.output.contains("added"), "\(run)")
    #expect(try home.run("run").status == 78)
  }

  @Test("of `manifest check` about a sitemap in a file is the one that a run would give")
  func sitemap() throws {
    let sitemap =
      "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>\(server.address("/one"))</loc></url></urlset>"
    home.write(sitemap, to: "sitemap.xml")
    let check = try home.run("manifest", "check", "sitemap.xml")
    #expect(check.status == 0 && check.output.contains("items:     1"), "\(check)")
    let based = try home.run(
      "manifest",
      "check",
      "sitemap.xml",
      "--base-url",
      "https://other.example/"
    )
    #expect(based.status == 78 && based.errors.contains("another host"), "\(based)")
    configure("segments: [{ name: s, manifest: sitemap.xml }]")
    #expect(try home.run("run").status == 0)
  }

  @Test(
    "is none about a list that is signed in clear and named `.asc`",
    arguments: ["\(Digest.hexadecimal("body of one"))  one", "URL"]
  )
  func clearSigned(line: String) throws {
    let list = """
      -----BEGIN PGP SIGNED MESSAGE-----
      Hash: SHA256

      \(line.replacing("URL", with: server.address("/one")))
      -----BEGIN PGP SIGNATURE-----

      iQEzBAEBCAAdFiEE
      =abcd
      -----END PGP SIGNATURE-----

      """
    site["/list.asc"] = Site.Page(
      Array(list.utf8),
      headers: [HeaderField("Content-Type", "application/pgp-signature")]
    )
    configure("segments: [{ name: s, manifest: \(server.address("/list.asc")) }]")
    let run = try home.run("run")
    #expect(run.status == 0 && run.output.contains("1 item: 1 fetched"), "\(run)")
    home.write(list, to: "list.asc")
    let check = try home.run("manifest", "check", "list.asc", "--base-url", server.address("/"))
    #expect(check.status == 0 && check.output.contains("items:     1"), "\(check)")
    #expect(!check.output.contains("refused") && check.errors.contains("was not verified"))
  }

  @Test("of `explain` tells sizes as people do")
  func sizes() throws {
    configure(
      "segments: [{ name: s, urls: [{ url: \(server.address("/one")), size: 123456789 }] }]"
    )
    let run = try home.run("explain", server.address("/one"))
    #expect(run.output.contains("123 MB are declared, 10 GiB allowed"), "\(run)")
    #expect(!run.output.contains("123456789"))
  }
}
