import PrefetchTestSupport
import Testing

@Suite(
  "A lock file meets limits, repairs, atomic trees, priorities and other processes",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct FreezeLimitTests {
  private let ground: FreezeGround

  init() throws {
    ground = try FreezeGround()
  }

  private func freeze(_ files: [String: String], _ rules: String = "", _ top: String = "") throws {
    ground.publish(files)
    ground.declare(rules, top)
    #expect(try ground.run("-q").status == 0)
    #expect(try ground.run("freeze").status == 0)
  }

  @Test("A body that makes room for others comes back as it was locked, or not at all")
  func room() throws {
    let body = { (name: String) in String(repeating: name, count: 4_000) }
    try freeze(["a.bin": body("a"), "b.bin": body("b")])
    let lock = ground.lock
    let small = try ground.run("-q", "--set", "cache.size=6000")
    #expect(small.status == 4 || small.status == 3, "\(small)")
    ground.publish(["a.bin": body("x"), "b.bin": body("y")])
    let run = try ground.run("run")
    #expect(run.status == 5 && run.errors.contains("[drifted]"), "\(run)")
    ground.publish(["a.bin": body("a"), "b.bin": body("b")])
    #expect(try ground.run("-q").status == 0)
    #expect(try ground.run("freeze", "--check").status == 0)
    #expect(ground.lock == lock)
  }

  @Test("A damaged body is repaired by the locked one alone")
  func repair() throws {
    try freeze(["a.bin": "one"])
    let object = "f=$(find $XDG_CACHE_HOME -name \(Digest.hexadecimal("one")))"
    #expect(try ground.home.shell("\(object); chmod u+w $f; printf 0ne >$f").status == 0)
    ground.serve("two", at: "/pub/a.bin")
    #expect(try ground.run("verify", "--repair").status == 74)
    #expect(try ground.run("-q").status == 5)
    ground.serve("one", at: "/pub/a.bin")
    #expect(try ground.run("-q", "--frozen").status == 0)
    #expect(ground.shown("a.bin") == "one")
    #expect(try ground.run("verify").status == 0)
  }

  @Test("An atomic tree is not switched while an item differs from its lock")
  func atomic() throws {
    ground.publish(["a.bin": "one", "b.bin": "one"])
    ground.home.configure(
      ground.configuration(
        """
          - name: files
            manifest: "\(ground.server.address("/pub/list.txt"))"
            publish: { dir: dir, layout: basename, atomic: true }
        """
      )
    )
    #expect(try ground.run("-q").status == 0)
    #expect(try ground.run("freeze").status == 0)
    ground.publish(["a.bin": "two", "b.bin": "two", "c.bin": "new"])
    let run = try ground.run("run", "--refetch")
    #expect(run.status == 5, "\(run)")
    #expect(ground.shown("a.bin") == "one" && ground.shown("b.bin") == "one")
    #expect(ground.shown("c.bin") == nil)
    #expect(try ground.run("freeze", "--update").status == 0)
    #expect(ground.shown("a.bin") == "two" && ground.shown("c.bin") == "new")
  }

  @Test("Priorities decide the order of locked items, and no other body")
  func priority() throws {
    ground.serve("late", at: "/pub/late.bin")
    ground.serve("early", at: "/pub/early.bin")
    let segment = { (name: String, priority: Int) in
      """
        - name: \(name)
          priority: \(priority)
          urls: ["\(ground.server.address("/pub/\(name).bin"))"]
      """
    }
    ground.home.configure(
      ground.configuration(segment("late", 9) + "\n" + segment("early", 1))
    )
    #expect(try ground.run("-q").status == 0)
    #expect(try ground.run("freeze").status == 0)
    try ground.home.removeCache()
    #expect(try ground.run("-q", "-j", "1").status == 0)
    #expect(ground.site.requests.map(\.path) == ["/pub/early.bin", "/pub/late.bin"])
  }

  @Test("Of two runs at once one has the lock file's bodies, and the other waits for them")
  func together() throws {
    try freeze(["a.bin": "one", "b.bin": "two"])
    try ground.home.removeCache()
    let first = try ground.home.start(["-q", "--wait"])
    let second = try ground.home.start(["-q", "--wait", "--frozen"])
    #expect(first.finish().status == 0)
    #expect(second.finish().status == 0)
    #expect(try ground.run("freeze", "--check").status == 0)
    #expect(try ground.run("verify").status == 0)
  }
}
