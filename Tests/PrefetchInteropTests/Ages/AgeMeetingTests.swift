import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "An age gate meets guards, stale copies, subscriptions, trees and other segments",
  .enabled(if: Binary.isGiven && FakedProgram.isPossible, "needs faketime")
)
struct AgeMeetingTests {
  private let ground: AgeGround

  init() throws {
    ground = try AgeGround()
  }

  /// Serves files and a list of their checksums.
  private func publish(_ files: [String: String]) {
    for (name, text) in files { ground.serve(text, at: "/\(name)") }
    let lines = files.keys.sorted().map { "\(Digest.hexadecimal(files[$0] ?? ""))  \($0)\n" }
    ground.serve(lines.joined(), at: "/SHA256SUMS")
  }

  private func declare(_ rules: String = "min_age: 1d", tree: String = "") {
    ground.configure(
      """
        - name: files
          manifest: "\(ground.url("/SHA256SUMS"))"
          publish: { dir: dir, layout: basename\(tree) }
          \(rules)
      """
    )
  }

  @Test("A list that lost most of its items is refused, and what waits goes on waiting")
  func guards() throws {
    publish(["a": "a", "b": "b", "c": "c", "d": "d", "f": "f"])
    declare()
    #expect(try ground.run("-q", "--allow", "age").status == 0)
    publish(["a": "new", "e": "e"])
    let refused = try ground.run()
    #expect(refused.status == 3 && refused.errors.contains("[manifest_guard]"), "\(refused)")
    ground.move(toHour: 25)
    #expect(try ground.run("-q").status == 3)
    #expect(FileTree.names(ground.home.path("dir")) == ["a", "b", "c", "d", "f"])
    // The refused list was no first sight of its items.
    let allowed = try ground.run("-q", "--allow", "mass-removal")
    #expect(allowed.status == 75, "\(allowed)")
    #expect(ground.shown("a") == "a" && ground.shown("e") == nil)
    ground.move(toHour: 51)
    #expect(try ground.run("-q", "--allow", "mass-removal").status == 0)
    #expect(FileTree.names(ground.home.path("dir")) == ["a", "e"])
    #expect(ground.shown("a") == "new")
  }

  @Test("A server that is gone during a wait leaves the older copy, within `max_stale`")
  func stale() throws {
    ground.serve("one", at: "/a")
    ground.declare("/a", rules: "min_age: 1d, max_stale: 3d")
    #expect(try ground.run("-q", "--allow", "age").status == 0)
    ground.serve("two", at: "/a")
    #expect(try ground.run("-q").status == 0)
    ground.site["/a"] = Site.Page(Array("down".utf8), status: 503)
    ground.move(toHour: 25)
    let down = try ground.run()
    #expect(down.status == 0 && down.errors.contains("served stale"), "\(down)")
    #expect(ground.shown("a") == "one")
    ground.serve("two", at: "/a")
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("a") == "two")
  }

  @Test("A subscription brings no younger bodies than the configuration allows")
  func subscription() throws {
    ground.serve("one", at: "/a")
    ground.serve("two", at: "/b")
    ground.configure(
      """
        - { name: first, urls: ["\(ground.url("/a"))"], initial: true }
        - { name: second, urls: ["\(ground.url("/b"))"], min_age: 1d }
      """,
      "license: key\nsubscriptions: remembered"
    )
    #expect(try ground.run("-q").status == 0)
    let subscribed = try ground.run("subscribe", "second")
    #expect(subscribed.status == 75, "\(subscribed)")
    #expect(!ground.requests.contains("GET /b"), "\(ground.requests)")
    ground.move(toHour: 25)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.requests.contains("GET /b"))
  }

  @Test("An atomic tree is switched when all of its new files are old enough")
  func atomic() throws {
    publish(["a": "one", "b": "one"])
    declare(tree: ", atomic: true")
    #expect(try ground.run("-q", "--allow", "age").status == 0)
    publish(["a": "two", "b": "one"])
    #expect(try ground.run("-q").status == 0)
    #expect(try ground.run("-q", "--offline").status == 0)
    publish(["a": "two", "b": "two", "c": "new"])
    #expect(try ground.run("-q").status == 75)
    #expect(ground.shown("a") == "one" && ground.shown("c") == nil)
    ground.move(toHour: 25)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.shown("a") == "two" && ground.shown("b") == "two" && ground.shown("c") == "new")
  }

  @Test("A segment without an age brings its items, whatever another one waits for")
  func sharers() throws {
    for order in [["strict", "free"], ["free", "strict"]] {
      let ground = try AgeGround()
      ground.serve("one", at: "/a")
      let segments = order.map { name in
        """
          - name: \(name)
            urls: ["\(ground.url("/a"))"]
            publish: { dir: \(name), layout: basename }
            \(name == "strict" ? "min_age: 1d" : "")
        """
      }
      ground.configure(segments.joined(separator: "\n"))
      let run = try ground.run("--json")
      #expect([0, 75].contains(run.status), "\(run)")
      #expect(ground.home.read("free/a") == "one", "\(order)")
      // The body is the URL's, so the other segment has it as well.
      #expect(try ground.run("-q").status == 0)
      #expect(ground.home.read("strict/a") == "one", "\(order)")
    }
  }

  @Test("Segments of one age wait for a shared item together, with one look at it")
  func together() throws {
    ground.serve("one", at: "/a")
    ground.configure(
      ["left", "right"].map {
        "  - { name: \($0), urls: [\"\(ground.url("/a"))\"], min_age: 1d }"
      }
      .joined(separator: "\n")
    )
    #expect(try ground.run("-q").status == 75)
    #expect(ground.requests == ["HEAD /a"])
    ground.move(toHour: 25)
    #expect(try ground.run("-q").status == 0)
    #expect(ground.requests == ["GET /a", "HEAD /a"])
  }

  @Test("`keep` counts what `select` leaves of the versions that are old enough")
  func keep() throws {
    let items = [("1.8", 900), ("1.9", 400), ("1.10", 2)].map { version, hours in
      ground.serve(version, at: "/tool-\(version).zip")
      let time = Timestamp.format(AgeGround.ago(hours: Int64(hours)))
      return #"{"url": "tool-\#(version).zip", "mtime": "\#(time)"}"#
    }
    let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
    ground.serve(head + items.joined(separator: ", ") + "]}", at: "/list.json")
    ground.configure(
      """
        - name: files
          manifest: "\(ground.url("/list.json"))"
          select: { name: "tool-@v.zip", newest: 2 }
          keep: 1
          min_age: 7d
          age_from: published
          publish: { dir: dir, layout: basename }
      """
    )
    #expect(try ground.run("-q").status == 0)
    #expect(FileTree.names(ground.home.path("dir")) == ["tool-1.9.zip"])
  }

  @Test("A second tier gives bodies that are old enough by their digest, and only these")
  func tier() throws {
    let ground = try TierGround()
    ground.publish(4)
    #expect(try ground.machine("mode: read_write").run("-q").status == 0)
    _ = ground.drainRequests()
    let strict = try ground.machine("mode: read", "defaults: { min_age: 1d }")
    let clock = FakedClock(strict)
    #expect(try FakedProgram(strict, clock, ["-q"]).finish().status == 75)
    // Items without a digest are looked at once, the others not at all.
    #expect(ground.drainRequests() == ["/1", "/3", "/list.json"])
    clock.set(25 * 3600)
    #expect(try FakedProgram(strict, clock, ["-q"]).finish().status == 0)
    #expect(ground.drainRequests() == ["/1", "/1", "/3", "/3", "/list.json"])
    try ground.expectAll(4, in: strict)
  }
}
