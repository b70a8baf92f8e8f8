import PrefetchCore
import PrefetchTestSupport
import Testing

/// Dates of every kind of list that states some: a file of last month comes, today's waits.
@Suite(
  "An age counts from the date of a list",
  .enabled(if: Binary.isGiven && FakedProgram.isPossible, "needs faketime")
)
struct AgeSourceTests {
  private let ground: AgeGround
  private let old = Timestamp.format(AgeGround.ago(hours: 24 * 30))
  private let new = Timestamp.format(AgeGround.ago(hours: 1))

  init() throws {
    ground = try AgeGround()
  }

  private func declare(_ list: String, _ rules: String = "") {
    ground.configure(
      """
        - name: files
          manifest: "\(list.hasPrefix("/") ? ground.url(list) : list)"
          min_age: 7d
          publish: { dir: dir, layout: basename }
          \(rules)
      """
    )
  }

  /// Runs today and in a week; `documents` are the paths that the first run may ask for beside files.
  ///
  /// Returns the requests of the last run.
  @discardableResult
  private func expectOnlyOld(_ old: String, _ new: String) throws -> [String] {
    ground.serve("old", at: old)
    ground.serve("new", at: new)
    let first = try ground.run("--json")
    #expect(first.status == 75, "\(first)")
    #expect(ground.requests.contains("GET \(old)"))
    #expect(!ground.site.requests.contains { $0.path == new }, "\(ground.requests)")
    #expect(try ground.run("-q").status == 75)
    #expect(!ground.site.requests.contains { $0.path == new }, "\(ground.requests)")
    ground.move(toHour: 24 * 7)
    let later = try ground.run("-q")
    #expect(later.status == 0, "\(later)")
    let requests = ground.requests
    let cached = try ground.run("list", "--json").output
    #expect(
      cached.contains(Digest.hexadecimal("new")) && cached.contains(Digest.hexadecimal("old"))
    )
    return requests
  }

  @Test("A feed's `pubDate`, if it is asked for")
  func feed() throws {
    let item = { (name: String, hours: Int64) in
      """
      <item><title>\(name)</title><enclosure url="\(ground.url("/\(name).mp3"))" length="3" \
      type="audio/mpeg"/><pubDate>\(HTTPDate.format(AgeGround.ago(hours: hours)))</pubDate></item>
      """
    }
    ground.serve(
      #"<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>"#
        + item("new", 1) + item("old", 720) + "</channel></rss>",
      at: "/feed.xml"
    )
    declare("/feed.xml", "age_from: published")
    try expectOnlyOld("/old.mp3", "/new.mp3")
  }

  @Test("A sitemap's `lastmod`, if it is asked for")
  func sitemap() throws {
    let page = { (name: String, date: String) in
      "<url><loc>\(ground.url(name))</loc><lastmod>\(date)</lastmod></url>"
    }
    ground.serve(
      #"<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#
        + page("/old.html", old) + page("/new.html", new) + "</urlset>",
      at: "/sitemap.xml"
    )
    declare("/sitemap.xml", "age_from: published")
    try expectOnlyOld("/old.html", "/new.html")
  }

  @Test("The time of a release's asset")
  func releases() throws {
    let asset = { (name: String, date: String) in
      """
      {"name": "\(name).zip", "size": 3, "updated_at": "\(date)", "id": \(name == "new" ? 1 : 2),
       "digest": "sha256:\(Digest.hexadecimal(name))",
       "browser_download_url": "\(ground.url("/\(name).zip"))"}
      """
    }
    ground.serve(
      """
      [{"tag_name": "v1", "draft": false, "prerelease": false, "published_at": "\(old)",
        "assets": [\(asset("new", new)), \(asset("old", old))]}]
      """,
      at: "/releases"
    )
    declare("/releases", "format: releases")
    try expectOnlyOld("/old.zip", "/new.zip")
  }

  @Test("`upload-time` of a uv.lock")
  func uvLock() throws {
    let package = { (name: String, date: String) in
      """
      [[package]]
      name = "\(name)"
      version = "1.0"
      source = { registry = "\(ground.url("/simple"))" }
      wheels = [
          { url = "\(ground.url("/\(name)-1.0-py3-none-any.whl"))", \
      hash = "sha256:\(Digest.hexadecimal(name))", size = 3, upload-time = "\(date)" },
      ]

      """
    }
    ground.home.write(
      "version = 1\nrequires-python = \">=3.8\"\n\n" + package("new", new) + package("old", old),
      to: "uv.lock"
    )
    declare("uv.lock")
    try expectOnlyOld("/old-1.0-py3-none-any.whl", "/new-1.0-py3-none-any.whl")
  }

  @Test("`upload-time` of a pylock.toml")
  func pylock() throws {
    let package = { (name: String, date: String) in
      """
      [[packages]]
      name = "\(name)"
      version = "1.0"
      wheels = [{ url = "\(ground.url("/\(name)-1.0-py3-none-any.whl"))", upload-time = \(date), \
      hashes = { sha256 = "\(Digest.hexadecimal(name))" } }]

      """
    }
    ground.home.write(
      "lock-version = \"1.0\"\ncreated-by = \"a tool\"\n\n" + package("new", new)
        + package("old", old),
      to: "pylock.toml"
    )
    declare("pylock.toml")
    try expectOnlyOld("/old-1.0-py3-none-any.whl", "/new-1.0-py3-none-any.whl")
  }

  @Test("`upload-time` of the index of a requirements.txt")
  func index() throws {
    var lines = ""
    for (name, date) in [("new", new), ("old", old)] {
      let digest = Digest.hexadecimal(name)
      ground.site["/simple/\(name)/"] = Site.Page(
        """
        {"meta": {"api-version": "1.1"}, "name": "\(name)", "versions": ["1.0"], "files": [
          {"filename": "\(name)-1.0-py3-none-any.whl", "size": 3, "upload-time": "\(date)",
           "url": "\(ground.url("/\(name)-1.0-py3-none-any.whl"))", "hashes": {"sha256": "\(digest)"}}
        ]}
        """,
        headers: [HeaderField("Content-Type", "application/vnd.pypi.simple.v1+json")]
      )
      lines += "\(name)==1.0 --hash=sha256:\(digest)\n"
    }
    ground.home.write(lines, to: "requirements.txt")
    declare("requirements.txt", "pip: { index: \"\(ground.url("/simple"))\" }")
    try expectOnlyOld("/old-1.0-py3-none-any.whl", "/new-1.0-py3-none-any.whl")
  }

  private func writePackageLock() {
    let packages = ["new", "old"].map { name in
      """
      "node_modules/\(name)": {"version": "1.0.0", \
      "resolved": "\(ground.url("/\(name)/-/\(name)-1.0.0.tgz"))", \
      "integrity": "sha256-\(Digest.base64(name))"}
      """
    }
    ground.home.write(
      #"{"name": "app", "lockfileVersion": 3, "packages": {"": {}, \#(packages.joined(separator: ", "))}}"#,
      to: "package-lock.json"
    )
    for (name, date) in [("new", new), ("old", old)] {
      ground.serve(
        #"{"name": "\#(name)", "time": {"created": "\#(old)", "1.0.0": "\#(date)"}, "versions": {}}"#,
        at: "/\(name)"
      )
    }
  }

  @Test("`time` of the npm registry, asked once for each package that is not stored")
  func packageLock() throws {
    writePackageLock()
    declare("package-lock.json")
    let requests = try expectOnlyOld("/old/-/old-1.0.0.tgz", "/new/-/new-1.0.0.tgz")
    // Stored files need no date, and a remembered date is not asked for again.
    #expect(requests == ["GET /new/-/new-1.0.0.tgz"])
  }

  @Test("A registry that does not answer lets all packages count from their first sight")
  func silentRegistry() throws {
    writePackageLock()
    for name in ["new", "old"] {
      ground.site["/\(name)"] = nil
      ground.serve(name, at: "/\(name)/-/\(name)-1.0.0.tgz")
    }
    declare("package-lock.json")
    let first = try ground.run()
    #expect(first.status == 75 && first.errors.contains("[manifest.dates]"), "\(first)")
    ground.move(toHour: 24 * 8)
    #expect(try ground.run("-q").status == 0)
  }

  @Test("`age_from: seen` asks no registry")
  func seen() throws {
    writePackageLock()
    declare("package-lock.json", "age_from: seen")
    #expect(try ground.run("-q").status == 75)
    #expect(ground.requests == [])
  }
}
