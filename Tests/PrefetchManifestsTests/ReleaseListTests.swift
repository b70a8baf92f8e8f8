import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

@Suite("Releases of forges") struct ReleaseListTests {
  private static let api = "https://api.example/repos/acme/tool"
  private static let site = "https://files.example/acme"
  private static let sum = String(repeating: "ab", count: 32)

  private func source(
    select: String? = nil,
    page: PageHint? = nil,
    hasCredentials: Bool = false
  ) throws -> ManifestSource {
    let url = try WebURL("\(Self.api)/releases?per_page=2")
    var source = ManifestSource(bytes: .file("m"), base: url, mime: nil, name: url.string)
    source.address = url
    source.page = page ?? PageHint(url)
    source.rules.format = .releases
    source.rules.versions = select.map { VersionRules(name: $0) }
    source.rules.hasCredentials = hasCredentials
    return source
  }

  private func read(_ text: String, _ source: ManifestSource) throws -> Manifest {
    try readBytes(Array(text.utf8), source).get()
  }

  private func text(_ releases: [ForgeText.Release], _ forge: ForgeText = .github) -> String {
    forge.list(releases, api: Self.api, site: Self.site)
  }

  private func release(
    _ tag: String,
    on day: String,
    isDraft: Bool = false,
    isPrerelease: Bool = false,
    _ names: String...
  ) -> ForgeText.Release {
    var release = ForgeText.Release(tag, on: day, names.map { ForgeText.Asset($0) })
    release.isDraft = isDraft
    release.isPrerelease = isPrerelease
    return release
  }

  // MARK: What is taken

  @Test(
    "The newest release that is neither draft nor prerelease is taken",
    arguments: ForgeText.allCases
  )
  func newest(forge: ForgeText) throws {
    var releases = [
      release("v4", on: "2026-04-01", isDraft: true, "a"),
      release("v1", on: "2026-01-01", "a"), release("v2", on: "2026-02-01", "a", "b"),
    ]
    if forge != .gitlab {
      releases.append(release("v3", on: "2026-03-01", isPrerelease: true, "a"))
    }
    let manifest = try read(text(releases, forge), source())
    #expect(manifest.entries.map(\.path) == ["v2/a", "v2/b"])
    #expect(manifest.entries.first?.url.string == "\(Self.site)/v2/a")
    #expect(manifest.entries.first?.size == (forge == .gitlab ? nil : 3))
    let time = forge == .gitlab ? "2026-02-01T00:00:00.000Z" : "2026-03-01T10:00:00.000Z"
    #expect(manifest.entries.first?.published.map { Timestamp.format($0) } == time)
    #expect(manifest.furtherDocuments.isEmpty)
  }

  @Test("With `select` all releases that are no prereleases are taken")
  func selected() throws {
    let releases = [
      release("v3", on: "2026-03-01", isPrerelease: true, "a"),
      release("v1", on: "2026-01-01", "a"), release("v2", on: "2026-02-01", "a"),
    ]
    let manifest = try read(text(releases), source(select: "v@v/a", page: nil))
    #expect(manifest.entries.map(\.path) == ["v1/a", "v2/a"])
  }

  @Test("One release by itself is taken even if it is a prerelease, but not as a draft")
  func single() throws {
    var release = release("tool/v3", on: "2026-03-01", isPrerelease: true, "a")
    let one = ForgeText.github.release(release, api: Self.api, site: Self.site)
    #expect(try read(one, source()).entries.map(\.path) == ["tool/v3/a"])
    release.isDraft = true
    let draft = ForgeText.github.release(release, api: Self.api, site: Self.site)
    #expect(try read(draft, source()).itemCount == 0)
  }

  @Test("A project with prereleases only has no items, and the list says why")
  func prereleases() throws {
    let releases = [release("v3", on: "2026-03-01", isPrerelease: true, "a")]
    let manifest = try read(text(releases), source())
    #expect(manifest.itemCount == 0)
    #expect(
      manifest.warnings.map(\.message) == [
        "its 1 release is a draft or a prerelease; `@TAG` after a short address takes one"
      ]
    )
  }

  @Test("An asset that breaks a rule fails alone, and an unfinished upload is left out")
  func rejected() throws {
    let text = """
      {"tag_name": "v1", "assets": [
      {"name": "good", "browser_download_url": "https://f.example/good", "updated_at": "x"},
      {"name": "../up", "browser_download_url": "https://f.example/up"},
      {"name": "none"}, {"browser_download_url": "https://f.example/nameless"},
      {"name": "odd", "digest": "sha256:xyz", "browser_download_url": "https://f.example/odd"},
      {"name": "new", "digest": "sha9:xyz", "browser_download_url": "https://f.example/new"},
      {"name": "begun", "state": "open", "browser_download_url": "https://f.example/begun"}]}
      """
    let manifest = try read(text, source())
    #expect(manifest.entries.map(\.path) == ["v1/good", "v1/new"])
    #expect(
      manifest.rejected.map { "\($0.url) \($0.failure.code.rawValue)" } == [
        "https://f.example/up unsafe_name", "v1/none manifest_invalid",
        "https://f.example/nameless manifest_invalid", "https://f.example/odd manifest_invalid",
      ]
    )
  }

  @Test(
    "A document that holds no releases is refused",
    arguments: ["{\"message\": \"Not Found\"}", "[1]", "[{\"name\": \"x\"}]", "\"x\""]
  )
  func wrong(text: String) throws {
    #expect(throws: Failure.self) { try read(text, source()) }
  }

  // MARK: Revisions and addresses

  @Test("An asset without a digest has a revision that changes with its time, size or id")
  func revision() throws {
    func asset(_ change: (inout ForgeText.Asset) -> Void) throws -> ManifestEntry {
      var asset = ForgeText.Asset("a")
      change(&asset)
      return try #require(try read(text([.init("v1", [asset])]), source()).entries.first)
    }
    let plain = try asset { _ in }
    #expect(plain.revision != nil && plain.lifetime == .immutable)
    #expect(try asset { $0.changed = "2026-03-01T10:00:01Z" }.revision != plain.revision)
    #expect(try asset { $0.size = 4 }.revision != plain.revision)
    #expect(try asset { $0.number = 2 }.revision != plain.revision)
    let pinned = try asset { $0.digest = Self.sum }
    #expect(pinned.revision == nil && pinned.lifetime == nil && pinned.digests.count == 1)
    let link = text([.init("v1", [ForgeText.Asset("a")])], .gitlab)
    #expect(try read(link, source()).entries.first?.revision == nil)
  }

  @Test("With credentials the asset is requested at the API, by the media type of bytes")
  func token() throws {
    let list = text([.init("v1", [ForgeText.Asset("a", number: 7)])])
    let entry = try #require(try read(list, source(hasCredentials: true)).entries.first)
    #expect(entry.url.string == "\(Self.api)/assets/7")
    #expect(entry.headers == [HeaderField("Accept", "application/octet-stream")])
    // An address on another server would get no credentials.
    let foreign = list.replacing(Self.api, with: "https://other.example")
    let other = try #require(try read(foreign, source(hasCredentials: true)).entries.first)
    #expect(other.url.string == "\(Self.site)/v1/a" && other.headers.isEmpty)
  }

  // MARK: Pages

  @Test("Pages follow while no release was found, or with `select`")
  func pages() throws {
    let two = [
      release("v2", on: "2026-02-01", isPrerelease: true, "a"),
      release("v1", on: "2026-01-01", "a"),
    ]
    let url = try WebURL("\(Self.api)/releases?per_page=2")
    let next = "\(Self.api)/releases?per_page=2&page=2"
    func parts(
      _ releases: [ForgeText.Release],
      select: String? = nil,
      _ link: PageHint.Link
    )
      throws -> [String]
    {
      let source = try source(select: select, page: PageHint(url, link: link))
      return try read(text(releases), source).furtherDocuments.map(\.url.string)
    }
    #expect(try parts(two, .unstated) == [])
    #expect(try parts(two, select: "a-@v", .unstated) == [next])
    #expect(try parts([two[0]], select: "a-@v", .unstated) == [])
    #expect(try parts([two[0], two[0]], .unstated) == [next])
    #expect(try parts(two, select: "a-@v", .last) == [])
    #expect(
      try parts([two[1]], select: "a-@v", .next("/other?cursor=x"))
        == ["https://api.example/other?cursor=x"]
    )
    #expect(throws: Failure.self) {
      try parts(two, select: "a-@v", .next("https://evil.example/releases?page=2"))
    }
  }

  // MARK: Checksums

  @Test(
    "The lists of checksums that the assets need are further documents",
    arguments: [
      (["a.gz", "SHA256SUMS", "SHA256SUMS.asc", "SHA512SUMS"], ["SHA256SUMS"]),
      (
        ["a.gz", "a_checksums.txt", "b_checksums.txt", "a.gz.sha256"],
        [
          "a_checksums.txt", "b_checksums.txt",
        ]
      ),
      (
        ["a.gz", "a.gz.sha256", "a.gz.sha512", "b.gz", "b.gz.sha512sum"],
        [
          "a.gz.sha256", "b.gz.sha512sum",
        ]
      ),
      (["a.gz", "tool_1.0_SHA256SUMS", "tool_1.0_SHA256SUMS.sig"], ["tool_1.0_SHA256SUMS"]),
      (["a.gz", "MD5SUMS", "b2sums.txt", "a.gz.md5", "checksums.json"], []),
      (["SHA256SUMS", "a.sig"], []),
    ] as [([String], [String])]
  )
  func lists(names: [String], expected: [String]) throws {
    let assets = names.map { ForgeText.Asset($0) }
    let manifest = try read(text([.init("v1", assets)]), source())
    #expect(
      manifest.furtherDocuments.map { $0.url.string.split(separator: "/").last.map(String.init) }
        == expected
    )
    #expect(manifest.entries.count == names.count)
  }

  @Test("No list of checksums is needed for assets with digests, nor for those that are not taken")
  func needless() throws {
    let pinned = [ForgeText.Asset("a.gz", digest: Self.sum), ForgeText.Asset("SHA256SUMS")]
    #expect(try read(text([.init("v1", pinned)]), source()).furtherDocuments.isEmpty)
    let releases = ["v1", "v2"].map { tag in
      ForgeText.Release(tag, [ForgeText.Asset("a-\(tag).gz"), ForgeText.Asset("SHA256SUMS")])
    }
    let newest = try read(text(releases), source(select: "a-@v.gz", page: nil))
    #expect(newest.furtherDocuments.first?.url.string == "\(Self.site)/v2/SHA256SUMS")
    var excluded = try source()
    excluded.rules.excluded = ["*.gz"]
    #expect(try read(text([releases[0]]), excluded).furtherDocuments.isEmpty)
  }

  private func readSums(_ text: String, _ list: ReleaseChecksums) -> Result<Manifest, Failure> {
    readText(text, base: "\(Self.site)/v1/SUMS", documentRole: .checksums(list))
  }

  @Test("A list of checksums is read by names, one of a single file by its first word")
  func sums() throws {
    var digests = ReleaseDigests()
    let all = ReleaseChecksums(folder: "v1")
    let lines = "\(Self.sum)  ./dist/a.gz\n\(Self.sum) *b.gz\nnot a line\n"
    digests.add(try readSums(lines, all).get().entries, of: all)
    for (name, text) in [("c.gz", "\(Self.sum)\n"), ("d.gz", "\(Self.sum)  target/other\n")] {
      let one = ReleaseChecksums(folder: "v1", subject: name)
      digests.add(try readSums(text, one).get().entries, of: one)
    }
    let assets = ["a.gz", "b.gz", "c.gz", "d.gz", "e.gz"].map { ForgeText.Asset($0) }
    var entries = try read(text([.init("v1", assets)]), source()).entries
    digests.join(&entries)
    #expect(entries.map { $0.digests.map(\.text) } == Array(repeating: [Self.sum], count: 4) + [[]])
    #expect(entries.map(\.path).count == 5)
  }

  @Test("Two lists that contradict each other give no digest")
  func contradiction() throws {
    var digests = ReleaseDigests()
    let list = ReleaseChecksums(folder: "v1")
    for sum in [Self.sum, String(repeating: "cd", count: 32)] {
      digests.add(try readSums("\(sum)  a.gz\n", list).get().entries, of: list)
    }
    var entries = try read(text([.init("v1", [ForgeText.Asset("a.gz")])]), source()).entries
    digests.join(&entries)
    #expect(entries.first?.digests.isEmpty == true)
  }

  @Test("A list of checksums with another digest than the release states is refused")
  func forged() throws {
    let text = "\(Self.sum)  a.gz\n"
    var list = ReleaseChecksums(folder: "v1")
    list.digests = [
      ExpectedDigest(algorithm: .sha256, bytes: SHA256.digest(of: Array(text.utf8)).bytes)
    ]
    #expect(throws: Never.self) { try readSums(text, list).get() }
    #expect(readSums("\(text)\n", list).failure?.code == .digestMismatch)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
