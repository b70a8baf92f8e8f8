@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A mirror in trouble", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MirrorTroubleTests {
  private let ground: MirrorGround
  private let list: String

  init() throws {
    ground = try MirrorGround()
    list = ground.server.address("/pub/SHA256SUMS")
  }

  @Test("A foreign file in the way is named and not touched")
  func foreign() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    FileTree.makeFolder(ground.home.path("dir"))
    ground.home.write("theirs", to: "dir/a")
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("dir/a"))
    #expect(ground.files() == ["a": "theirs", "b": "two"])
    FileTree.remove(ground.home.path("dir/a"))
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "one", "b": "two"])
  }

  @Test(
    "A run of a mirror whose folder is missing or empty makes it anew, and warns once",
    arguments: [false, true]
  )
  func lostFolder(isEmptied: Bool) throws {
    ground.publish(files: ["a": "one", "b": "two"])
    let words = [list, "dir", "--cache-dir", "cache", "--state-dir", "state"]
    let first = try ground.mirror(words)
    #expect(first.status == 0 && first.errors.isEmpty, "\(first)")
    try #require(ground.home.tool("rm", "-r", ground.home.path("dir")).status == 0)
    if isEmptied { FileTree.makeFolder(ground.home.path("dir")) }
    let plan = try ground.mirror(words + ["-n"])
    #expect(plan.errors.contains("the mirror has lost 2 files: "), "\(plan)")
    let second = try ground.mirror(words)
    #expect(second.status == 0, "\(second)")
    let text = "dir` \(isEmptied ? "is empty" : "is missing"), and a run makes them again"
    #expect(second.errors.contains("warning: the mirror has lost 2 files: "), "\(second)")
    #expect(second.errors.contains(text), "\(second)")
    #expect(ground.files() == ["a": "one", "b": "two"])
    let third = try ground.mirror(words)
    #expect(third.status == 0 && third.errors.isEmpty, "\(third)")
  }

  @Test("Plain http is refused with the option that allows it")
  func plain() throws {
    ground.publish(files: ["a": "one"])
    let run = try ground.home.run("mirror", list, "dir")
    #expect(run.status == 5, "\(run)")
    #expect(run.errors.contains("`--set allow_http=127.0.0.1`"))
    #expect(!run.errors.contains("NSAllows"))
    #expect(ground.requests.isEmpty)
  }

  @Test("A removed file of a mirror returns, and a changed one is named and replaced")
  func spoilt() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    #expect(try ground.mirror(list, "dir").status == 0)
    FileTree.remove(ground.home.path("dir/a"))
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "one", "b": "two"])
    #expect(try ground.status("a").st_mtim.tv_sec == MirrorGround.mondaySeconds)
    _ = try ground.home.shell("echo more >> dir/b; rm dir/a")
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("dir/b"))
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "one", "b": "two"])
  }

  @Test("A killed mirror has only complete files, and the next night completes it")
  func killed() throws {
    let bodies = (0..<6).map { number in String(repeating: "\(number)", count: 200_000) }
    let trap = KillTrap(ground.site)
    let server = try LoopbackServer { trap.respond(to: $0) }
    for (number, body) in bodies.enumerated() { ground.serve(body, at: "/f\(number)") }
    let urls = (0..<6).map { server.address("/f\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    for point in [KillTrap.Point.request(4), .bytes(100_000, below: "/f5"), .start] {
      trap.set(point)
      let run = try ground.home.start(ground.arguments(["urls.txt", "dir"]))
      try #require(trap.waitForRequests(1))
      run.signal(SIGKILL)
      #expect(run.finish().status == 128 + SIGKILL)
      for (name, text) in ground.files() { #expect(bodies.contains(text), "\(name)") }
      trap.set(nil)
    }
    let next = try ground.mirror("urls.txt", "dir")
    #expect(next.status == 0, "\(next)")
    #expect(ground.files().count == 6)
    #expect(Set(ground.files().values) == Set(bodies))
    let names = FileTree.names(ground.home.path("dir"))
    #expect(names == [".prefetch"] + (0..<6).map { "f\($0)" })
  }

  @Test("A server with wrong lengths gets nothing into the mirror")
  func liar() throws {
    let isLying = Guarded(true)
    let server = try LoopbackServer { request in
      guard request.path == "/b", isLying.withLock({ $0 }) else {
        return .respond(200, [], text: "whole \(request.path)")
      }
      return .raw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhalf", then: .close)
    }
    ground.home.write("\(server.address("/a"))\n\(server.address("/b"))\n", to: "urls.txt")
    let words = ["urls.txt", "dir", "--set", "network.retries.items=0"]
    let run = try ground.home.run(ground.arguments(words))
    #expect(run.status == 3, "\(run)")
    #expect(ground.files() == ["a": "whole /a"])
    isLying.withLock { $0 = false }
    #expect(try ground.home.run(ground.arguments(words)).status == 0)
    isLying.withLock { $0 = true }
    #expect(try ground.home.run(ground.arguments(words)).status == 3)
    #expect(ground.files() == ["a": "whole /a", "b": "whole /b"])
  }

  @Test("A file that its server lost stays while the list has it")
  func vanished() throws {
    for name in ["a", "b"] { ground.serve("body \(name)", at: "/\(name)") }
    ground.home.write(
      ["a", "b"].map { ground.server.address("/\($0)") + "\n" }.joined(),
      to: "urls.txt"
    )
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    ground.site["/b"] = nil
    let run = try ground.mirror("urls.txt", "dir")
    #expect(run.status == 3, "\(run)")
    #expect(ground.files() == ["a": "body a", "b": "body b"])
    ground.home.write(ground.server.address("/a"), to: "urls.txt")
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    #expect(ground.files() == ["a": "body a"])
  }

  @Test("A lost list leaves the mirror as it is")
  func withoutList() throws {
    ground.publish(files: ["a": "one"])
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.site["/pub/SHA256SUMS"] = nil
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 3, "\(run)")
    #expect(ground.files() == ["a": "one"])
  }

  @Test("A full disk ends a mirror with 74 without partial files, and it continues later")
  func full() throws {
    try #require(SmallDisk.isAvailable)
    let disk = try #require(SmallDisk(bytes: 8 << 20, at: ground.home.path("dir")))
    let bodies = (0..<8).map { number in String(repeating: "\(number)", count: 1 << 20) }
    for (number, body) in bodies.enumerated() { ground.serve(body, at: "/f\(number)") }
    let urls = (0..<8).map { ground.server.address("/f\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    let run = try ground.mirror("urls.txt", "dir")
    #expect(run.status == 74, "\(run)")
    for (name, text) in ground.files() { #expect(bodies.contains(text), "\(name)") }
    try #require(disk.resize(bytes: 32 << 20))
    let next = try ground.mirror("urls.txt", "dir")
    #expect(next.status == 0, "\(next)")
    #expect(Set(ground.files().values) == Set(bodies))
  }

  @Test("A second mirror run in the same folder ends with 75 at once")
  func twoAtOnce() throws {
    let gate = Gate()
    let server = try LoopbackServer { request in
      let response = Script.respond(200, [], text: "body")
      return request.path == "/slow" ? Script([.pause(gate)] + response.steps) : response
    }
    ground.home.write(server.address("/slow"), to: "urls.txt")
    let first = try ground.home.start(ground.arguments(["urls.txt", "dir"]))
    try #require(server.waitForRequest("/slow"))
    let second = try ground.mirror("urls.txt", "dir")
    #expect(second.status == 75, "\(second)")
    #expect(second.errors.contains("another run of `mirror"))
    gate.open()
    #expect(first.finish().status == 0)
    #expect(ground.files() == ["slow": "body"])
  }

  @Test("A mirror in a read-only place ends with 74 and names it")
  func readOnly() throws {
    ground.publish(files: ["a": "one"])
    let nowhere = try ground.mirror(list, "/proc/mirror")
    #expect(nowhere.status == 74, "\(nowhere)")
    #expect(nowhere.errors.contains("/proc/mirror"))
    ground.home.write("a file", to: "taken")
    let run = try ground.mirror(list, "taken")
    #expect(run.status == 74, "\(run)")
    let named = "/taken` is not a folder; remove it, or name another place"
    #expect(run.errors.contains(named) && !run.errors.contains("hint:"), "\(run)")
    #expect(ground.home.read("taken") == "a file")
  }

  @Test(
    "A mirror whose folder became read-only stays as it is",
    .enabled(if: SmallDisk.isAvailable, "needs the right to mount")
  )
  func becameReadOnly() throws {
    let disk = try #require(SmallDisk(bytes: 8 << 20, at: ground.home.path("dir")))
    ground.publish(files: ["a": "one"])
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.publish(files: ["a": "two"])
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    try #require(unsafe mount("tmpfs", disk.path, "tmpfs", flags, "size=8388608") == 0)
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 74, "\(run)")
    #expect(ground.files() == ["a": "one"])
  }

  @Test("A mirror that once ran with another cache stays one mirror of its folder")
  func otherCache() throws {
    func verify(_ cache: String) throws -> ProgramRun {
      try ground.home.run(
        "verify",
        "--cache-dir",
        cache,
        "--state-dir",
        "dir/.prefetch"
      )
    }
    ground.publish(files: ["a": "one", "b": "two", "c": "three"])
    try #require(ground.mirror(list, "dir").status == 0)
    try #require(ground.mirror(list, "dir", "--cache-dir", "typo").status == 0)
    ground.publish(files: ["a": "new", "b": "two"])
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "new", "b": "two"])
    let sound = try verify("dir/.prefetch")
    #expect(sound.status == 0, "\(sound)")
    ground.publish(files: ["a": "newer", "b": "two"])
    #expect(try ground.mirror(list, "dir", "--cache-dir", "typo").status == 0)
    #expect(ground.files() == ["a": "newer", "b": "two"])
    let other = try verify("typo")
    #expect(other.status == 0, "\(other)")
  }

  @Test(
    "A mirror on a disk without space for all waits, and evicts nothing that its folder shows",
    .enabled(if: SmallDisk.isAvailable, "needs the right to mount")
  )
  func tightDisk() throws {
    let disk = try #require(SmallDisk(bytes: 2 << 20, at: ground.home.path("dir")))
    // With declared sizes no transfer begins for which there is no space.
    func publish(_ names: String...) {
      let items = names.map { name in
        ground.serve(String(repeating: name, count: 700_000), at: "/pub/\(name)")
        return #"{"url": "\#(name)", "size": 700000}"#
      }.joined(separator: ", ")
      let head = #"{"format": "prefetch-manifest", "version": 1, "items": ["#
      ground.serve("\(head)\(items)]}", at: "/pub/list.json")
    }
    let list = ground.server.address("/pub/list.json")
    let words = ground.arguments([list, "dir"]).filter { !$0.hasPrefix("cache.min_free") }
    publish("c", "d")
    #expect(try ground.home.run(Array(words.dropLast())).status == 0)
    // The list names the missing items first, so that the stored ones are the first to go.
    publish("a", "b", "c", "d")
    for night in 1...2 {
      let run = try ground.home.run(Array(words.dropLast()))
      #expect(run.status == 75, "night \(night): \(run)")
      #expect(!run.errors.contains("evicted"), "\(run)")
      #expect(ground.files().keys.sorted() == ["pub/c", "pub/d"])
      #expect(try ground.home.run(["verify", "--cache-dir", "dir/.prefetch"]).status == 0)
    }
    let own = ["--cache-dir", "dir/.prefetch", "--state-dir", "dir/.prefetch"]
    let line = try ground.home.run(["status", "--nagios"] + own)
    #expect(line.status == 1 && line.output.contains("waits for space on the disk"), "\(line)")
    _ = disk
  }

  @Test("An unreadable list ends a mirror with 78 and changes nothing")
  func unreadable() throws {
    ground.publish(files: ["a": "one"])
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.home.write("{ \"no\": list", to: "broken.json")
    for list in ["missing.txt", "broken.json", "."] {
      let run = try ground.mirror(list, "dir")
      #expect(run.status == 78, "\(run)")
      #expect(run.errors.contains("the list `\(list)`"), "\(run)")
    }
    let piped = try ground.mirror("-", "dir", input: "{ \"no\": list")
    #expect(piped.status == 78, "\(piped)")
    #expect(ground.files() == ["a": "one"])
    for words in [[], ["list"], ["list", "dir", "more"], ["", "dir"]] {
      #expect(try ground.home.run(["mirror"] + words).status == 64)
    }
  }

  @Test("A mirror reads a configuration only when one is named")
  func configuration() throws {
    ground.publish(files: ["a": "one"])
    ground.home.write("segments: [{ nonsense")
    #expect(try ground.mirror(list, "dir").status == 0)
    ground.home.configure(
      """
      segments: [{ name: other, urls: [\(ground.server.address("/other"))] }]
      cache: { min_free: 0 }
      """,
      to: "rules.yaml"
    )
    let run = try ground.home.run("mirror", list, "strict", "-c", "rules.yaml")
    #expect(run.status == 0, "\(run)")
    #expect(ground.files("strict") == ["a": "one"])
  }
}
