@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("Controls of single items", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ControlTests {
  private let site = Site()
  private let server: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    for name in ["/a", "/b", "/c"] { site[name] = Site.Page("the body of \(name)") }
    declare(["/a", "/b", "/c"])
  }

  private func declare(_ paths: [String]) {
    let urls = paths.map { server.address($0) }.joined(separator: ", ")
    home.configure(
      """
      segments: [{ name: basics, urls: [\(urls)] }]
      cache: { min_free: 0 }
      """
    )
  }

  private func states() throws -> [String: String] {
    let items = try home.run("list", "--json").json().list("items")
    let pairs = items.map { ($0.text("url")?.last.map(String.init) ?? "", $0.text("state") ?? "") }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  private func requests(of path: String) -> Int {
    server.requests.count { $0.path == path }
  }

  @Test("A paused item is skipped by runs, stored or not, until it is resumed")
  func paused() throws {
    #expect(try home.run("pause", server.address("/b")).status == 0)
    let first = try home.run("--json")
    #expect(first.status == 0, "\(first)")
    #expect(try first.json().text("segments.0.state") == "current")
    #expect(try first.json().list("items").contains { $0.text("deferred.rule") == "paused" })
    #expect(requests(of: "/b") == 0)
    #expect(try home.run("pause", server.address("/a")).status == 0)
    #expect(try home.run("-q", "--refetch").status == 0)
    #expect(requests(of: "/a") == 1)
    #expect(try states() == ["a": "paused", "b": "paused", "c": "cached"])
    let plan = try home.run("--dry-run")
    #expect(plan.status == 0)
    #expect(plan.output.split(separator: "\n").contains { $0.hasPrefix("defer\tbasics\t-\t") })
    #expect(try home.run("resume", server.address("/a"), server.address("/b")).status == 0)
    #expect(try home.run("-q").status == 0)
    #expect(try states() == ["a": "cached", "b": "cached", "c": "cached"])
    #expect(try home.run("verify").status == 0)
  }

  @Test("An unlocked item that left its list is removed by the next run")
  func unlocked() throws {
    home.write(["/a", "/b"].map { "\(server.address($0))\n" }.joined(), to: "list.txt")
    home.configure(
      "segments: [{ name: basics, manifest: ./list.txt }]\ncache: { min_free: 0 }"
    )
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("lock", server.address("/b")).status == 0)
    home.write("\(server.address("/a"))\n", to: "list.txt")
    #expect(try home.run("-q").status == 0)
    #expect(try states().keys.sorted() == ["a", "b"])
    #expect(try home.run("unlock", server.address("/b")).status == 0)
    let run = try home.run("--json")
    #expect(try run.totals()["removed"] == 1, "\(run)")
    #expect(try states().keys.sorted() == ["a"])
  }

  @Test("`import` refuses a body whose digest differs from the one that the list declares")
  func importOfOtherBytes() throws {
    let digest = Digest.hexadecimal("the body of /a")
    home.write("\(digest)  a\n", to: "SHA256SUMS")
    home.configure(
      """
      segments: [{ name: basics, manifest: ./SHA256SUMS, base: "\(server.address("/"))" }]
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("-q").status == 0)
    home.write("other bytes", to: "other")
    let refused = try home.run("import", "other", "--url", server.address("/a"))
    #expect(refused.status == 5, "\(refused)")
    #expect(refused.errors.contains("[import.digest_mismatch]"), "\(refused)")
    #expect(try home.run("get", "--offline", server.address("/a")).output == "the body of /a")
    home.write("the body of /a", to: "same")
    #expect(try home.run("import", "same", "--url", server.address("/a")).status == 0)
  }

  @Test("A failed item is tried again when its entry changes, with `retry_failed: false`")
  func changedEntry() throws {
    site["/a"] = nil
    let list = { (digest: String) in home.write("\(digest)  a\n", to: "SHA256SUMS") }
    _ = list(Digest.hexadecimal("the first body"))
    home.configure(
      """
      segments: [{ name: basics, manifest: ./SHA256SUMS, base: "\(server.address("/"))" }]
      cache: { min_free: 0 }
      download: { retry_failed: false }
      """
    )
    #expect(try home.run("-q").status == 4)
    site["/a"] = Site.Page("the second body")
    #expect(try home.run("-q").status == 4)
    #expect(requests(of: "/a") == 1)
    _ = list(Digest.hexadecimal("the second body"))
    #expect(try home.run("-q").status == 0)
  }

  @Test("A control is refused with 4 for a URL that is neither stored nor declared")
  func unknownURL() throws {
    for command in ["pause", "resume", "lock", "rm"] {
      let run = try home.run(command, server.address("/unknown"))
      #expect(run.status == 4 && run.errors.contains("/unknown"), "\(run)")
    }
    #expect(try home.run("list").output.isEmpty)
  }

  @Test("`get` fetches a paused item and ends its pause")
  func paged() throws {
    #expect(try home.run("pause", server.address("/b")).status == 0)
    let got = try home.run("get", server.address("/b"))
    #expect(got.status == 0)
    #expect(got.output == "the body of /b")
    #expect(try states()["b"] == "cached")
  }

  @Test("An item that is paused while a run fetches it stays paused")
  func pausedMeanwhile() throws {
    let (isRequested, mayRespond) = (Latch(), Latch())
    let slow = try LoopbackServer { [site] request in
      isRequested.open()
      mayRespond.wait()
      return site.respond(to: request)
    }
    home.configure(
      """
      segments: [{ name: basics, urls: ["\(slow.address("/a"))"] }]
      cache: { min_free: 0 }
      """
    )
    let run = try home.start(["-q"])
    isRequested.wait()
    #expect(try home.run("pause", slow.address("/a")).status == 0)
    mayRespond.open()
    #expect(run.finish().status == 0)
    let items = try home.run("list", "--json").json().list("items")
    #expect(items.map { $0.text("state") } == ["paused"])
    #expect(try home.run("path", slow.address("/a")).status == 0)
  }

  @Test("A locked item is protected from its list, from eviction, from `rm` and from `gc`")
  func locked() throws {
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("lock", server.address("/b")).status == 0)
    let refused = try home.run("rm", server.address("/a"), server.address("/b"))
    #expect(refused.status == 3, "\(refused)")
    #expect(refused.errors.contains("[item.locked]"))
    #expect(try states() == ["b": "cached", "c": "cached"])
    declare([])
    _ = try home.run("-q", "--allow", "mass-removal")
    _ = try home.run("gc", "--set", "cache.size=1B")
    #expect(try states()["b"] == "cached")
    #expect(try home.run("unlock", server.address("/b")).status == 0)
    _ = try home.run("-q", "--allow", "mass-removal")
    #expect(try states()["b"] == nil)
    #expect(try home.run("verify").status == 0)
  }

  @Test("`with-lock` locks while its program runs, and passes on its exit status")
  func withLock() throws {
    #expect(try home.run("-q").status == 0)
    let script = "\"$prefetch\" with-lock \(server.address("/a")) -- "
    let listed = try home.shell("\(script) \"$prefetch\" list --locked; echo \"$?\"")
    #expect(listed.output.contains("/a\n0"), "\(listed)")
    #expect(try home.shell("\(script) sh -c 'exit 7'").status == 7)
    #expect(try home.shell("\(script) sh -c 'kill -9 $$'").status == 137)
    #expect(try home.shell("\(script) /nowhere/at/all").status == 1)
    #expect(try home.run("list", "--locked").output.isEmpty)
    #expect(try home.run("with-lock", "nothing", "--", "true").status == 4)
  }

  @Test("A lock with `--pid` ends with that process")
  func processLock() throws {
    #expect(try home.run("-q").status == 0)
    let script = """
      sleep 60 & child=$!
      "$prefetch" lock --pid $child \(server.address("/a")) >locked
      "$prefetch" list --locked
      kill $child; wait $child
      echo "and then"
      "$prefetch" list --locked
      """
    let run = try home.shell(script)
    #expect(run.output.contains("/a\nand then\n"), "\(run)")
    #expect(run.output.hasSuffix("and then\n"))
  }

  @Test("`rm` removes bodies or whole rows, and says which items the next run fetches again")
  func removed() throws {
    #expect(try home.run("-q").status == 0)
    let removed = try home.run("rm", "--files-only", server.address("/a"))
    #expect(removed.status == 0)
    #expect(removed.errors.contains("the next run brings it back"))
    #expect(try states()["a"] == "queued")
    #expect(try home.run("rm", server.address("/b")).status == 0)
    #expect(try states()["b"] == nil)
    #expect(try home.run("rm", "nothing", server.address("/c")).status == 4)
    #expect(try states()["c"] == "cached")
    #expect(try home.run("-q").status == 0)
    #expect(try states() == ["a": "cached", "b": "cached", "c": "cached"])
    #expect(try home.run("verify").status == 0)
  }

  @Test("An item of several files is not requested, and is reported as not supported")
  func compound() throws {
    let items = ["/a", "/b", "/c"].map { path in
      "{ \"url\": \"\(server.address(path))\", \"type\": \"\(path == "/a" ? "file" : "dash")\" }"
    }
    site["/list.json"] = Site.Page(
      "{ \"format\": \"prefetch-manifest\", \"version\": 1, \"items\": [\(items.joined(separator: ", "))] }"
    )
    home.configure(
      """
      segments:
        - { name: far, manifest: "\(server.address("/list.json"))" }
        - { name: near, urls: [{ url: "\(server.address("/c"))", type: dash }] }
      cache: { min_free: 0 }
      """
    )
    let check = try home.run("check")
    #expect(check.errors.contains("type `dash` is more than one file"), "\(check)")
    let plan = try home.run("--dry-run")
    #expect(plan.status == 3, "\(plan)")
    let run = try home.run("--json")
    #expect(run.status == 3, "\(run)")
    let codes = try run.json().list("items").compactMap { $0.text("error.code") }
    #expect(codes == Array(repeating: "unsupported", count: codes.count) && codes.count >= 2)
    #expect(requests(of: "/b") + requests(of: "/c") == 0)
    #expect(try states()["a"] == "cached")
    #expect(try home.run("get", server.address("/b")).status == 4)
  }

  @Test(
    "`rm` keeps a thumbnail that another declared item uses, stored or not",
    arguments: [true, false]
  )
  func sharedThumbnail(isStored: Bool) throws {
    site["/p"] = Site.Page("a picture")
    home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0, lookups: 0 } }
      segments: [{ name: s, manifest: ./list.json, base: "\(server.address("/"))" }]
      """
    )
    let behavior = isStored ? "all" : "thumbnails"
    home.write(
      """
      { "format": "prefetch-manifest", "version": 1, "items": [
        { "id": "one", "url": "a", "thumbnail": "p" },
        { "id": "two", "url": "b", "thumbnail": "p", "behavior": "\(behavior)" } ] }
      """,
      to: "list.json"
    )
    #expect(try home.run("-q").status == 0)
    let removed = try home.run("rm", "one")
    #expect(removed.status == 0 && removed.lines.count == 1, "\(removed)")
    #expect(try home.run("get", "--offline", server.address("/p")).output == "a picture")
    // The last reference removes the body as well.
    let last = try home.run("rm", "one", "two")
    if isStored { #expect(last.lines.count == 2 || last.status == 4, "\(last)") }
  }

  @Test("`rm` of a paused item does not say that the next run fetches it again")
  func pausedRemoval() throws {
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, urls: [\"\(server.address("/a"))\"] }]"
    )
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("pause", server.address("/a")).status == 0)
    let removed = try home.run("rm", server.address("/a"))
    #expect(removed.status == 0 && !removed.errors.contains("brings it back"), "\(removed)")
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("get", "--offline", server.address("/a")).status == 4)
  }

  @Test(
    "`import` stores a file as the body of a URL, which a matching digest keeps from being fetched"
  )
  func imported() throws {
    home.write("the body of /a", to: "film")
    let imported = try home.run("import", "film", "--url", server.address("/a"), "--id", "one")
    #expect(imported.status == 0, "\(imported)")
    #expect(try home.run("get", "--offline", "one").output == "the body of /a")
    let digest = try home.run("list", "--json").json().text("items.0.digest") ?? ""
    home.configure(
      """
      segments: [{ name: basics, urls: [{ url: "\(server.address("/a"))", \
      digests: { sha256: "\(digest.dropFirst("sha256:".count))" } }] }]
      cache: { min_free: 0 }
      """
    )
    #expect(try home.run("-q").status == 0)
    #expect(server.requests.isEmpty)
    home.write("something longer", to: "other")
    let large = try home.run(
      "import",
      "other",
      "--url",
      server.address("/b"),
      "--set",
      "cache.size=5B"
    )
    #expect(large.status == 3, "\(large)")
    #expect(try home.run("import", ".", "--url", server.address("/b")).status == 74)
  }
}

/// A condition that becomes true once.
private final class Latch: Sendable {
  private let isOpen = Mutex(false)

  func open() {
    isOpen.withLock { $0 = true }
  }

  func wait() {
    while !isOpen.withLock({ $0 }) { poll(nil, 0, 2) }
  }
}
