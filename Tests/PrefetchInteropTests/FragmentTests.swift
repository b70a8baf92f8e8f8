import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

@Suite("A digest behind the `#` of a URL", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct FragmentTests {
  private let home: Home
  private let site: Site
  private let server: LoopbackServer
  private let good = Digest.hexadecimal("body of one")
  private let bad = Digest.hexadecimal("another body")

  init() throws {
    let site = Site()
    site["/one"] = Site.Page("body of one")
    self.site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure("cache: { min_free: 0 }\nsegments: []")
  }

  private func url(_ fragment: String) -> String {
    server.address("/one#\(fragment)")
  }

  @Test("A digest in a URL's fragment is compared with the fetched body and never sent")
  func get() throws {
    let refused = try home.run("get", url("sha256=\(bad)"))
    #expect(refused.status == 5, "\(refused)")
    #expect(refused.output == "" && refused.errors.contains("digest_mismatch"))
    let accepted = try home.run("get", url("sha256=\(good)"))
    #expect(accepted.status == 0 && accepted.output == "body of one", "\(accepted)")
    let count = server.requests.count
    // A body that matches its digest needs no request; a body that does not match is an error.
    #expect(try home.run("get", url("sha256=\(good)")).output == "body of one")
    #expect(server.requests.count == count)
    #expect(try home.run("get", "--offline", url("sha256=\(bad)")).status == 4)
    #expect(try home.run("get", url("sha256=\(bad)")).status == 5)
    #expect(server.requests.allSatisfy { !$0.target.contains("#") })
  }

  @Test(
    "A malformed digest in a URL's fragment is refused with 64",
    arguments: [
      ["get"], ["get", "--offline"], ["path"], ["explain"], ["pause"], ["manifest", "check"],
    ]
  )
  func malformed(command: [String]) throws {
    let run = try home.run(command + [url("sha256=zz")])
    #expect(run.status == 64, "\(run)")
    #expect(run.errors.contains("`#sha256=zz`, which is not a sha256"))
    #expect(server.requests.isEmpty)
  }

  @Test("A digest in a URL's fragment selects the body for `path` and `explain`")
  func inspection() throws {
    #expect(try home.run("get", url("sha256=\(good)")).status == 0)
    #expect(try home.run("path", url("sha256=\(good)")).status == 0)
    #expect(try home.run("path", url("sha256=\(bad)")).status == 4)
    let explained = { (fragment: String) in
      try home.run("explain", "--json", url(fragment)).json().text("reason")
    }
    #expect(try explained("sha256=\(good)") == "digest matches")
    #expect(try explained("sha256=\(bad)") == "digest differs")
  }

  @Test("A digest in a URL's fragment counts in the configuration as one beside the URL does")
  func configured() throws {
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(url("sha256=\(bad)"))\"] }]"
    )
    let refused = try home.run("run")
    #expect(refused.status == 5, "\(refused)")
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(url("sha256=\(good)"))\"] }]"
    )
    #expect(try home.run("-q").status == 0)
    let count = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.count == count)
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(url("sha256=zz"))\"] }]"
    )
    #expect(try home.run("check").status == 78)
    home.configure("cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(url("intro"))\"] }]")
    let checked = try home.run("check")
    #expect(checked.status == 0 && checked.errors.contains("config.fragment"), "\(checked)")
    #expect(!(try home.run("run")).errors.contains("config.fragment"))
  }

  @Test(
    "A digest in the fragment of a listed URL saves the requests of later runs",
    arguments: [
      "URL", #"{"format":"prefetch-manifest","version":1,"items":[{"url":"URL"}]}"#,
      #"[{"url":"URL"}]"#,
    ]
  )
  func listed(list: String) throws {
    home.configure("cache: { min_free: 0 }\nsegments: [{ name: s, manifest: list }]")
    home.write(list.replacing("URL", with: url("sha256=\(bad)")), to: "list")
    #expect(try home.run("-q").status == 5)
    home.write(list.replacing("URL", with: url("sha256=\(good)")), to: "list")
    #expect(try home.run("-q").status == 0)
    let count = server.requests.count
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.count == count)
    home.write(list.replacing("URL", with: url("sha256=zz")), to: "list")
    #expect(try home.run("manifest", "check", "list").status == 78)
  }
}
