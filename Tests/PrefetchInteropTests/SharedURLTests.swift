internal import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "A URL that two segments declare differently",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct SharedURLTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home
  private static let body = "the body"

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    site["/a"] = Site.Page(Self.body)
  }

  /// The second segment's demand on the body, and whether the body meets the demand.
  enum Demand: String, CaseIterable, Sendable {
    case size
    case digest
    case requiredDigest
    case expectation

    var code: String {
      switch self {
      case .size: "corrupted"
      case .digest: "digest_mismatch"
      case .requiredDigest: "manifest_invalid"
      case .expectation: "unexpected_content"
      }
    }
  }

  private func manifest(_ entry: String, of other: LoopbackServer? = nil) -> String {
    let url = (other ?? server).address("/a")
    return
      #"{"format": "prefetch-manifest", "version": 1, "items": [{"url": "\#(url)"\#(entry)}]}"#
  }

  private func declare(_ demand: Demand, isFirst: Bool) {
    let digest = Digest.hexadecimal("another body")
    let own = Digest.hexadecimal(Self.body)
    home.write(manifest(#", "digests": {"sha256": "\#(own)"}"#), to: "plain.json")
    if demand == .requiredDigest { home.write(manifest(""), to: "plain.json") }
    let (entry, rule) =
      switch demand {
      case .size: (#", "size": 99"#, "")
      case .digest: (#", "digests": {"sha256": "\#(digest)"}"#, "")
      case .requiredDigest: ("", ", require_digest: true")
      case .expectation: ("", ", expect: { min_size: 50 }")
      }
    home.write(manifest(entry), to: "strict.json")
    let lenient = "{ name: plain, manifest: ./plain.json }"
    let strict = "{ name: strict, manifest: ./strict.json\(rule) }"
    home.configure(
      """
      segments: [\(isFirst ? "\(strict), \(lenient)" : "\(lenient), \(strict)")]
      cache: { min_free: 0 }
      network: { concurrency: 1 }
      """
    )
  }

  @Test(
    "A shared URL is judged by each segment's own declaration, in any order and in later runs",
    arguments: Demand.allCases,
    [true, false]
  )
  func ownDeclaration(demand: Demand, isFirst: Bool) throws {
    declare(demand, isFirst: isFirst)
    for night in 0..<2 {
      let run = try home.run("--json")
      #expect(run.status == (demand == .digest ? 5 : 3), "night \(night): \(run)")
      let report = try run.json()
      for segment in report.list("segments") {
        let isStrict = segment.text("name") == "strict"
        let state = segment.text("state") ?? ""
        #expect(isStrict ? state != "current" : state == "current", "night \(night): \(report)")
      }
      let failed = report.list("items").filter { $0.text("outcome") == "failed" }
      #expect(failed.map { $0.text("error.code") } == [demand.code], "night \(night): \(report)")
      #expect(failed.first?.list("segments").map { $0.text } == ["strict"])
      #expect(try home.run("path", server.address("/a")).status == 0)
    }
    #expect(try home.run("verify").status == 0)
    #expect(FileTree.objects(home.cache).count == 1)
  }

  @Test(
    "A shared URL has the same outcome whether the second list comes before or after the body",
    arguments: [true, false],
    [true, false]
  )
  func order(isLate: Bool, isLimited: Bool) throws {
    let site = site
    let home = home
    site["/a"] = Site.Page([], status: 410)
    site["/b"] = Site.Page("body of the alternate")
    let digest = Digest.hexadecimal("another body")
    let entry = #", "digests": {"sha256": "\#(digest)"}"#
    let first = Gate()
    let slow = try LoopbackServer { request in
      Script((isLate ? [] : [.pause(first)]) + site.respond(to: request).steps)
    }
    let list = manifest(entry, of: slow)
    let lists = try LoopbackServer { _ in
      let limit = ContinuousClock.now + .seconds(20)
      while isLate, FileTree.objects(home.cache).isEmpty, ContinuousClock.now < limit {
        sched_yield()
      }
      first.open()
      return .respond(200, text: list)
    }
    home.configure(
      """
      segments:
        - { name: plain, urls: [{ url: "\(slow.address("/a"))", alternates: [{ url: "\(slow.address("/b"))" }] }] }
        - { name: strict, \(isLimited ? "max_file_size: 5B, " : "")manifest: "\(lists.address("/list.json"))" }
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    for night in 0..<2 {
      let run = try home.run("--json")
      #expect(run.status == (isLimited ? 3 : 5), "night \(night): \(run)")
      let failed = try run.json().list("items").filter { $0.text("outcome") == "failed" }
      #expect(
        failed.map { $0.text("error.code") } == [isLimited ? "too_large" : "digest_mismatch"],
        "night \(night): \(run)"
      )
      if night == 0 { #expect(slow.requests.map(\.path) == ["/a", "/b"]) }
    }
  }

  private func declare(first: String, second: String) {
    home.configure(
      """
      segments:
        - { name: first, urls: ["\(server.address("/a"))"], \(first) }
        - { name: second, urls: ["\(server.address("/a"))"], \(second) }
      cache: { min_free: 0 }
      network: { concurrency: 1, retries: { items: 0 } }
      """
    )
  }

  @Test(
    "A shared URL fails nothing when only a segment that is not required refuses it",
    arguments: ["max_file_size: 5B", "expect: { max_size: 5B }"]
  )
  func optional(rule: String) throws {
    declare(first: "\(rule), required: false", second: "required: true")
    for command in ["plan", "run", "run"] {
      let run = try home.run(command, "--json")
      #expect(run.status == 0, "\(command): \(run)")
      let failed = try run.json().list("items").filter { $0.text("outcome") == "failed" }
      #expect(failed.map { $0.text("error.code") } == ["too_large"], "\(command)")
      #expect(failed.first?.list("segments").map { $0.text } == ["first"], "\(command)")
    }
  }

  @Test(
    "A shared URL stays refused by a segment whose size limit it exceeds, even while fresh",
    arguments: ["max_file_size: 5B", "expect: { max_size: 5B }"]
  )
  func refusedAgain(rule: String) throws {
    declare(first: "ttl: 1h", second: "ttl: 1h")
    #expect(try home.run().status == 0)
    declare(first: "ttl: 1h", second: "ttl: 1h, \(rule)")
    for command in ["plan", "run", "run"] {
      let run = try home.run(command, "--json")
      #expect(run.status == 3, "\(command): \(run)")
      #expect(try run.json().list("segments").map { $0.text("state") }.first == "current")
    }
  }

  @Test(
    "A shared URL with `no-store` is kept for one segment and refused by the other, as planned",
    arguments: [true, false]
  )
  func unstorable(isFirst: Bool) throws {
    site["/a"] = Site.Page(Self.body, headers: [HeaderField("Cache-Control", "no-store")])
    let rules = ["honor_no_store: true", "ttl: 1h"]
    declare(first: rules[isFirst ? 0 : 1], second: rules[isFirst ? 1 : 0])
    for command in ["plan", "run", "plan", "run"] {
      let run = try home.run(command, "--json")
      let report = try run.json()
      let failed = report.list("items").filter { $0.text("error.code") == "unsupported" }
      let segments = failed.flatMap { $0.list("segments").compactMap(\.text) }
      #expect(segments == [isFirst ? "first" : "second"], "\(command): \(report)")
      #expect(run.status == 3)
    }
    #expect(FileTree.objects(home.cache).count == 1)
  }

  @Test("A shared URL with `no-store` is refused by a plan for a list that arrives late")
  func unstorableLate() throws {
    let site = site
    site["/a"] = Site.Page(Self.body, headers: [HeaderField("Cache-Control", "no-store")])
    site["/c"] = Site.Page("asked for behind it")
    let hasResponded = Gate()
    // With a single connection, the next request is sent after the first response.
    let origin = try LoopbackServer { request in
      if request.path == "/c" { hasResponded.open() }
      return site.respond(to: request)
    }
    let list = manifest("", of: origin)
    let lists = try LoopbackServer { _ in
      Script([.pause(hasResponded)] + Script.respond(200, text: list).steps)
    }
    home.configure(
      """
      segments:
        - { name: plain, urls: ["\(origin.address("/a"))", "\(origin.address("/c"))"] }
        - { name: strict, manifest: "\(lists.address("/list.json"))", honor_no_store: true }
      cache: { min_free: 0 }
      network: { per_host: 1, http: "1.1" }
      """
    )
    for command in ["plan", "run"] {
      let run = try home.run(command, "--json")
      let failed = try run.json().list("items").filter { $0.text("error.code") == "unsupported" }
      let segments = failed.map { $0.list("segments").compactMap(\.text) }
      #expect(segments == [["strict"]], "\(command): \(run)")
      #expect(run.status == 3, "\(command): \(run)")
    }
  }

  @Test(
    "A shared URL keeps the body of one segment's digest, whatever the other's alternate has",
    arguments: [true, false]
  )
  func proven(isFirst: Bool) throws {
    let pinned = "sha256: \(Digest.hexadecimal(Self.body))"
    let alternate = #"alternates: [{ url: "\#(server.address("/b"))" }]"#
    let rules = [pinned, alternate]
    home.configure(
      """
      segments:
        - { name: first, urls: [{ url: "\(server.address("/a"))", \(rules[isFirst ? 0 : 1]) }] }
        - { name: second, urls: [{ url: "\(server.address("/a"))", \(rules[isFirst ? 1 : 0]) }] }
      cache: { min_free: 0 }
      network: { concurrency: 1 }
      """
    )
    #expect(try home.run().status == 0)
    site["/a"] = nil
    site["/b"] = Site.Page("something else")
    site.clearRequests()
    for command in ["plan", "run", "run"] {
      let run = try home.run(command, "--json", "--items", "all")
      #expect(run.status == 0, "\(command): \(run)")
      let actions = try run.json().list("items").map { $0.text("action") }
      #expect(Set(actions) == ["keep"], "\(command): \(run)")
    }
    #expect(try home.run("get", server.address("/a")).output == Self.body)
    // The bodies that both segments declare are stored, so that no request is sent.
    #expect(site.requests.isEmpty)
  }

  @Test(
    "A shared URL is fetched again when only one segment's digest differs",
    arguments: [true, false],
    [[], ["--items", "all"]]
  )
  func renewed(isFirst: Bool, words: [String]) throws {
    let url = server.address("/a")
    let digest = "sha256: \(Digest.hexadecimal("another body"))"
    for rule in ["", ", \(digest)"] {
      let strict = #"{ name: strict, urls: [{ url: "\#(url)"\#(rule) }] }"#
      let loose = #"{ name: loose, ttl: 1h, urls: ["\#(url)"] }"#
      home.configure(
        """
        segments: [\(isFirst ? "\(strict), \(loose)" : "\(loose), \(strict)")]
        cache: { min_free: 0 }
        """
      )
      let run = try home.run(["run", "--json"] + words)
      #expect(run.status == 0, "\(run)")
      site["/a"] = Site.Page("another body")
    }
    #expect(try home.run("get", url).output == "another body")
    site.clearRequests()
    #expect(try home.run(["run", "--json"] + words).status == 0)
    #expect(site.requests.isEmpty)
  }

  @Test(
    "A shared URL keeps the body that a segment outside of the run pins",
    arguments: [true, false]
  )
  func alone(isFirst: Bool) throws {
    let url = server.address("/a")
    let loose = #"{ name: loose, urls: ["\#(url)"] }"#
    let digest = Digest.hexadecimal(Self.body)
    let strict = #"{ name: strict, urls: [{ url: "\#(url)", sha256: \#(digest) }] }"#
    home.configure(
      """
      segments: [\(isFirst ? "\(strict), \(loose)" : "\(loose), \(strict)")]
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run().status == 0)
    site["/a"] = Site.Page("another body")
    site.clearRequests()
    for words in [["plan", "loose"], ["run", "loose"], ["run"]] {
      #expect(try home.run(words).status == 0)
      #expect(try home.run("get", url).output == Self.body)
    }
    #expect(site.requests.isEmpty)
  }

  @Test(
    "A shared URL keeps the body that a list pins, whether that list arrives early or late",
    arguments: [true, false]
  )
  func pinned(isLate: Bool) throws {
    let site = site
    let home = home
    let isWarm = Guarded(false)
    let list = manifest(#", "digests": {"sha256": "\#(Digest.hexadecimal(Self.body))"}"#)
    let lists = try LoopbackServer { _ in
      // The delay covers the other segment's request, response and commit.
      let limit = ContinuousClock.now + .seconds(3)
      while isLate, isWarm.withLock({ $0 }), FileTree.objects(home.cache).count < 3,
        ContinuousClock.now < limit
      {
        sched_yield()
      }
      return .respond(200, text: list)
    }
    let alternate = #"alternates: [{ url: "\#(server.address("/b"))" }]"#
    home.configure(
      """
      segments:
        - { name: loose, urls: [{ url: "\(server.address("/a"))", \(alternate) }] }
        - { name: strict, manifest: "\(lists.address("/list.json"))" }
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    #expect(try home.run().status == 0)
    isWarm.withLock { $0 = true }
    site["/a"] = Site.Page([], status: 410)
    site["/b"] = Site.Page("something else")
    site.clearRequests()
    for _ in 1...2 {
      let run = try home.run("--json")
      #expect(run.status == 0, "\(run)")
      #expect(try home.run("get", server.address("/a")).output == Self.body)
      #expect(site.requests.isEmpty)
    }
  }

  @Test(
    "A shared URL is judged by its size, in every run, where a stored body has its digest",
    arguments: [true, false]
  )
  func adopted(isFirst: Bool) throws {
    site["/other"] = Site.Page(Self.body)
    let digest = Digest.hexadecimal(Self.body)
    let strict = "expect: { max_size: 5B }"
    home.configure(
      """
      segments:
        - { name: other, urls: ["\(server.address("/other"))"] }
        - { name: first, \(isFirst ? strict : "ttl: 1h"), urls: [{ url: "\(server.address("/a"))", sha256: \(digest) }] }
        - { name: second, \(isFirst ? "ttl: 1h" : strict), urls: [{ url: "\(server.address("/a"))", size: 8 }] }
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("run", "other").status == 0)
    for command in ["plan", "run", "plan", "run"] {
      let run = try home.run(command, "--json")
      #expect(run.status == 3, "\(command): \(run)")
      let failed = try run.json().list("items").filter { $0.text("outcome") == "failed" }
      #expect(failed.map { $0.text("error.code") } == ["too_large"], "\(command): \(run)")
      #expect(
        failed.flatMap { $0.list("segments").compactMap(\.text) } == [isFirst ? "first" : "second"]
      )
    }
  }

  @Test(
    "A shared URL is stale only for the segment that accepts stale copies",
    arguments: [true, false]
  )
  func stale(isFirst: Bool) throws {
    let rules = ["max_stale: 1d", "ttl: 0s"]
    declare(first: rules[isFirst ? 0 : 1], second: rules[isFirst ? 1 : 0])
    #expect(try home.run().status == 0)
    site["/a"] = Site.Page(Array("broken".utf8), status: 500)
    for command in ["plan", "run"] {
      let run = try home.run(command, "--json", "--items", "all")
      let failed = try run.json().list("items").filter { $0.text("outcome") == "failed" }
      #expect(
        failed.flatMap { $0.list("segments").compactMap(\.text) } == [isFirst ? "second" : "first"],
        "\(command): \(run)"
      )
      #expect(run.status == 69, "\(command): \(run)")
    }
  }

  @Test(
    "A shared URL keeps a pinned body where another segment cannot revalidate it",
    arguments: [nil, "\"v1\""]
  )
  func unasked(entityTag: String?) throws {
    site["/a"] = Site.Page(Array(Self.body.utf8), entityTag: entityTag)
    let alternate = #"alternates: [{ url: "\#(server.address("/b"))" }]"#
    let digest = Digest.hexadecimal(Self.body)
    home.configure(
      """
      segments:
        - { name: strict, priority: 2, urls: [{ url: "\(server.address("/a"))", sha256: \(digest) }] }
        - { name: loose, priority: 1, urls: [{ url: "\(server.address("/a"))", \(alternate) }] }
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      """
    )
    #expect(try home.run().status == 0)
    site["/a"] = Site.Page([], status: 404)
    site["/b"] = Site.Page("something else")
    site.clearRequests()
    for _ in 1...2 {
      #expect(try home.run().status == 0)
      #expect(try home.run("get", server.address("/a")).output == Self.body)
    }
    #expect(site.requests.isEmpty)
    #expect(try home.run("verify").status == 0)
  }

  @Test("A shared URL that `get` fetched suffices for a segment that would not revalidate it")
  func brought() throws {
    declare(first: "max_stale: 1d", second: "ttl: 1h")
    #expect(try home.run("get", server.address("/a")).output == Self.body)
    site["/a"] = Site.Page(Array("broken".utf8), status: 500)
    for _ in 1...2 {
      let run = try home.run("run", "--json", "--items", "all")
      #expect(run.status == 0, "\(run)")
      let get = try home.run("get", server.address("/a"))
      #expect(get.status == 0 && get.output == Self.body, "\(get)")
    }
  }
}
