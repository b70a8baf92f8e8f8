@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("Names in a mirror", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MirrorNameTests {
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
    for name in ["x/a", "x/y/b", "c"] { ground.serve("body \(name)", at: "/\(name)") }
  }

  private var urls: String {
    ["x/a", "x/y/b", "c"].map { ground.server.address("/\($0)") + "\n" }.joined()
  }

  @Test(
    "Names in a mirror follow the options for layout",
    arguments: [
      ([], ["x/a", "x/y/b", "c"]),
      (["--cut-dirs", "1"], ["a", "y/b", "c"]),
      (["--cut-dirs", "7"], ["a", "b", "c"]),
      (["--layout", "basename"], ["a", "b", "c"]),
      (["--layout", "url"], ["HOST/x/a", "HOST/x/y/b", "HOST/c"]),
      (["--layout", "url", "--cut-dirs", "1"], ["HOST/a", "HOST/y/b", "HOST/c"]),
    ]
  )
  func options(_ words: [String], _ names: [String]) throws {
    ground.home.write(urls, to: "urls.txt")
    let run = try ground.home.run(ground.arguments(["urls.txt", "dir"] + words))
    #expect(run.status == 0, "\(run)")
    let host = "\(ground.server.host):\(ground.server.port)"
    let expected = names.map { $0.hasPrefix("HOST") ? host + $0.dropFirst(4) : $0 }
    #expect(Set(ground.files().keys) == Set(expected))
  }

  @Test("Names in a mirror follow changed options without a transfer")
  func changedOptions() throws {
    ground.home.write(urls, to: "urls.txt")
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    let run = try ground.mirror("urls.txt", "dir", "--cut-dirs", "1", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["bytes_body"] == 0)
    #expect(ground.files() == ["a": "body x/a", "y/b": "body x/y/b", "c": "body c"])
  }

  @Test("Names in a mirror begin with the host where the list names several")
  func severalHosts() throws {
    let site = ground.site
    let other = try LoopbackServer(number: 2) { site.respond(to: $0) }
    ground.home.write("\(ground.server.address("/c"))\n\(other.address("/c"))\n", to: "urls.txt")
    let run = try ground.mirror("urls.txt", "dir")
    #expect(run.status == 0, "\(run)")
    let hosts = [ground.server, other].map { "\($0.host):\($0.port)/c" }
    #expect(Set(ground.files().keys) == Set(hosts))
  }

  @Test("Names in a mirror follow aria2's input format, with its checksums")
  func aria2() throws {
    let wrong = Digest.hexadecimal(Array("something else".utf8))
    let right = Digest.hexadecimal(Array("body c".utf8))
    ground.home.write(
      """
      \(ground.server.address("/x/a"))
        dir=./isos/
        out=first.iso
        split=5
      \(ground.server.address("/x/y/b"))
        dir=isos/more
      \(ground.server.address("/c"))
        out=third
        checksum=sha-256=\(right)

      """,
      to: "input.txt"
    )
    let run = try ground.mirror("input.txt", "dir")
    #expect(run.status == 0, "\(run)")
    #expect(
      ground.files()
        == ["isos/first.iso": "body x/a", "isos/more/b": "body x/y/b", "third": "body c"]
    )
    let check = try ground.home.run("manifest", "check", "input.txt")
    #expect(check.status == 0, "\(check)")
    #expect(check.errors.contains("`split`"))
    ground.home.write(
      "\(ground.server.address("/c"))\n  checksum=sha-256=\(wrong)\n",
      to: "wrong.txt"
    )
    #expect(try ground.mirror("wrong.txt", "fresh").status == 5)
    #expect(ground.files("fresh").isEmpty)
  }

  @Test("A name outside of the folder, or of the mirror's own files, fails only its item")
  func forbidden() throws {
    let (a, c) = (ground.server.address("/x/a"), ground.server.address("/c"))
    ground.home.write("\(a)\n  out=.prefetch/index.sqlite\n\(c)\n", to: "own.txt")
    let own = try ground.mirror("own.txt", "dir")
    #expect(own.status == 3, "\(own)")
    #expect(own.errors.contains(".prefetch"))
    #expect(ground.files() == ["c": "body c"])
    for name in ["dir=/tmp", "dir=..", "out=../x"] {
      ground.home.write("\(a)\n  \(name)\n\(c)\n", to: "unsafe.txt")
      let run = try ground.mirror("unsafe.txt", "other")
      #expect(run.status == 5, "\(name): \(run)")
      #expect(ground.files("other") == ["c": "body c"])
    }
  }

  @Test("A name that is listed twice is one file for one body and time, else a copy or a failure")
  func twice() throws {
    ground.serve("same", at: "/p/one")
    ground.serve("same", at: "/p/two")
    ground.serve("same", at: "/p/three", modified: MirrorGround.tuesday)
    let lines = ["one", "two", "three"].map { ground.server.address("/p/\($0)") + "\n" }.joined()
    ground.home.write(lines, to: "urls.txt")
    #expect(try ground.mirror("urls.txt", "dir").status == 0)
    let files = try ["one", "two", "three"].map { try ground.status("p/\($0)") }
    #expect(files[0].st_ino == files[1].st_ino)
    #expect(files[0].st_ino != files[2].st_ino)
    #expect(
      files.map { $0.st_mtim.tv_sec - MirrorGround.mondaySeconds } == [0, 0, 86_400]
    )
    #expect(files[2].st_mode & 0o7777 == 0o644)
    let crowd = try ground.mirror("urls.txt", "flat", "--layout", "basename")
    #expect(crowd.status == 0, "\(crowd)")
    ground.home.write(
      "\(ground.server.address("/x/a"))\n  out=n\n\(ground.server.address("/c"))\n  out=n\n",
      to: "clash.txt"
    )
    let clash = try ground.mirror("clash.txt", "clash")
    #expect(clash.status != 0, "\(clash)")
    #expect(ground.files("clash").isEmpty)
  }

  @Test("Names in a mirror come from a piped list below `--base-url`")
  func piped() throws {
    let digest = Digest.hexadecimal(Array("body x/a".utf8))
    let list = "\(digest)  a\n"
    let base = ground.server.address("/x/")
    let run = try ground.mirror("-", "dir", "--base-url", base, input: list)
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ["a": "body x/a"])
    #expect(try ground.mirror("-", "dir", "--base-url", base, input: list).status == 0)
    #expect(ground.requests.isEmpty)
    let lost = try ground.mirror("-", "lost", input: list)
    #expect(lost.status != 0, "\(lost)")
    #expect(lost.errors.contains("--base-url"))
  }
}
