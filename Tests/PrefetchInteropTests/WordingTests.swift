import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Messages of the program and their recipients.
@Suite("Messages", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
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

  @Test("The output of `--version` has a line for each library")
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

  @Test("The output of `-v` has one line for each item")
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

  @Test("A message about an item that `on_gone` removes names the 404 and that rule")
  func pruned() throws {
    configure("segments: [{ name: s, on_gone: remove, urls: [\(server.address("/one"))] }]")
    #expect(try home.run("-q").status == 0)
    site["/one"] = nil
    let plan = try home.run("plan")
    let run = try home.run("run", "-vv", "--items", "all", "--report", "json=report.json")
    let removal = "its server no longer has it, and `on_gone` removes it"
    #expect(plan.output.contains(removal), "\(plan)")
    #expect(run.errors.contains("removed: \(server.address("/one")), \(removal)"), "\(run)")
    #expect(try home.run("log").output.contains(removal))
    for text in [plan.output, run.output, run.errors, home.read("report.json") ?? ""] {
      #expect(
        !text.contains("answered 410") && !text.contains("\"status\": 410")
          && !text.contains("no longer listed"),
        "\(text)"
      )
    }
  }

  @Test("The lines of a report have aligned columns, whatever the states are")
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
      let offsets = rows.map { row in
        row.firstRange(of: " item").map { row[..<$0.lowerBound].count }
      }
      #expect(rows.count > 1 && Set(offsets).count == 1, "\(run)")
    }
  }

  @Test("A message about a binary plist names the path of the key")
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
    "A signed list named `.asc` causes no message",
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

  @Test("`explain` prints sizes in readable units")
  func sizes() throws {
    configure(
      "segments: [{ name: s, urls: [{ url: \(server.address("/one")), size: 123456789 }] }]"
    )
    let run = try home.run("explain", server.address("/one"))
    #expect(run.output.contains("123 MB are declared, 10 GiB allowed"), "\(run)")
    #expect(!run.output.contains("123456789"))
  }
}
