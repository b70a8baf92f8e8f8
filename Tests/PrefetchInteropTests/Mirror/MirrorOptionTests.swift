@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A mirror with options", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct MirrorOptionTests {
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
  }

  private var list: String { ground.server.address("/pub/SHA256SUMS") }

  private func link(_ name: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = unsafe readlink(ground.home.path(name), &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  @Test("`--atomic` switches `DIR/current` to a complete tree or leaves it")
  func atomicSwitch() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    let first = try ground.mirror(list, "dir", "--atomic")
    #expect(first.status == 0, "\(first)")
    #expect(link("dir/current") == "current.generations/1")
    #expect(ground.files("dir/current/.") == ["a": "one", "b": "two"])
    let facts = try #require(FileTree.status(ground.home.path("dir/current/a")))
    #expect(facts.st_mtim.tv_sec == MirrorGround.mondaySeconds)

    // When one file cannot be fetched, the whole tree stays.
    ground.publish(files: ["a": "three", "b": "four"])
    ground.site["/pub/b"] = nil
    let second = try ground.mirror(list, "dir", "--atomic")
    #expect(second.status == 3, "\(second)")
    #expect(ground.files("dir/current/.") == ["a": "one", "b": "two"])

    ground.serve("four", at: "/pub/b")
    let third = try ground.mirror(list, "dir", "--atomic")
    #expect(third.status == 0, "\(third)")
    #expect(link("dir/current") == "current.generations/2")
    #expect(ground.files("dir/current/.") == ["a": "three", "b": "four"])
    #expect(ground.files("dir/current.generations/1") == ["a": "one", "b": "two"])
    // An unchanged night makes no generation.
    #expect(try ground.mirror(list, "dir", "--atomic").status == 0)
    #expect(link("dir/current") == "current.generations/2")
    let both = try ground.mirror(list, "dir", "--atomic", "--adopt")
    #expect(both.status == 64, "\(both)")
  }

  @Test("`--include-list` keeps in DIR the list that its files belong to")
  func includedList() throws {
    ground.publish(files: ["a": "one"])
    let first = try ground.mirror(list, "dir", "--include-list")
    #expect(first.status == 0, "\(first)")
    let sums = "\(Digest.hexadecimal("one"))  a\n"
    #expect(ground.files() == ["a": "one", "SHA256SUMS": sums])
    #expect(ground.requests == ["/pub/SHA256SUMS", "/pub/a"])
    ground.publish(files: ["a": "two"])
    let second = try ground.mirror(list, "dir", "--include-list")
    #expect(second.status == 0, "\(second)")
    #expect(ground.files()["SHA256SUMS"] == "\(Digest.hexadecimal("two"))  a\n")
    #expect(try ground.home.tool("sh", "-c", "cd dir && sha256sum -c SHA256SUMS").status == 0)
    // Without the option the list is removed like any file that no longer belongs to the mirror.
    let third = try ground.mirror(list, "dir")
    #expect(third.status == 0, "\(third)")
    #expect(ground.files() == ["a": "two"])
  }

  @Test(
    "`--include-list` keeps the list's signature beside it, renewed each night",
    .enabled(if: Tool.isInstalled("minisign"), "needs minisign"),
    arguments: [false, true]
  )
  func includedSignature(isAtomic: Bool) throws {
    let home = ground.home
    try #require(home.tool("minisign", "-G", "-W", "-p", "pub", "-s", "key").status == 0)
    let key = try #require(home.read("pub")?.split(separator: "\n").last)
    let tree = isAtomic ? "dir/current" : "dir"
    for night in ["one", "two", "two", "three"] {
      ground.publish(files: ["a": night])
      let sums = "\(Digest.hexadecimal(night))  a\n"
      home.write(sums, to: "SHA256SUMS")
      try #require(home.tool("minisign", "-S", "-s", "key", "-m", "SHA256SUMS").status == 0)
      let signature = try #require(home.read("SHA256SUMS.minisig"))
      ground.serve(signature, at: "/pub/SHA256SUMS.minisig")
      var words = ["--include-list", "--set", "manifest_keys=\(key)"]
      words += ["--set", "manifest_expiry=optional"] + (isAtomic ? ["--atomic"] : [])
      let run = try ground.mirror([list, "dir"] + words)
      #expect(run.status == 0, "\(run)")
      #expect(home.read("\(tree)/SHA256SUMS") == sums)
      let check = try home.tool("minisign", "-V", "-p", "pub", "-m", "\(tree)/SHA256SUMS")
      #expect(check.status == 0, "\(check)")
    }
  }

  @Test("`--include-list` keeps a local list, and refuses one without a name")
  func includedLocalList() throws {
    ground.publish(files: ["a": "one"])
    let sums = "\(Digest.hexadecimal("one"))  a\n"
    ground.home.write(sums, to: "sums.txt")
    let base = ground.server.address("/pub/")
    let run = try ground.mirror("sums.txt", "dir", "--base-url", base, "--include-list")
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ["a": "one", "sums.txt": sums])
    let refused = try ground.mirror("-", "dir", "--base-url", base, "--include-list", input: sums)
    #expect(refused.status == 64, "\(refused)")
  }

  @Test("An item with the name of the list fails the tree and not the item")
  func listNameUsed() throws {
    ground.serve("one", at: "/pub/a")
    ground.serve("an item", at: "/pub/names.txt")
    let urls = ["a", "names.txt"].map { ground.server.address("/pub/\($0)") + "\n" }
    ground.home.write(urls.joined(), to: "names.txt")
    let words = ["names.txt", "dir", "--layout", "basename", "--include-list"]
    let run = try ground.home.run(ground.arguments(words))
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("an item has the name of the list"), "\(run)")
    #expect(ground.files() == ["a": "one", "names.txt": "an item"])
  }

  @Test(
    "`publish: {times, mode}` set time and mode on separate files and follow a change",
    arguments: ["url", "basename"]
  )
  func timesAndModes(_ layout: String) throws {
    ground.serve("one", at: "/a")
    func configure(_ rules: String) {
      ground.home.configure(
        """
        cache: { min_free: 0 }
        segments:
          - name: site
            urls: ["\(ground.server.address("/a"))"]
            publish: { dir: dir, layout: \(layout), \(rules) }
        """
      )
    }
    func status() throws -> stat {
      let name =
        layout == "url" ? "\(ground.server.host):\(ground.server.port)/a" : "a"
      return try ground.status(name)
    }
    configure("times: server, mode: 0640")
    let run = try ground.home.run()
    #expect(run.status == 0, "\(run)")
    #expect(try status().st_mode & 0o777 == 0o640)
    #expect(try status().st_mtim.tv_sec == MirrorGround.mondaySeconds)
    #expect(try status().st_nlink == 1)
    configure("times: server, mode: \"604\"")
    #expect(try ground.home.run().status == 0)
    #expect(try status().st_mode & 0o777 == 0o604)
    #expect(try ground.home.run("verify", "-q").status == 0)
    configure("times: server, link: hardlink")
    #expect(try ground.home.run().status == 78)
    configure("mode: 0888")
    #expect(try ground.home.run().status == 78)
  }

  @Test("Two streams with equally named playlists get separate folders under layout `hls`")
  func streamsOfOneName() throws {
    for name in ["one", "two"] {
      ground.serve(
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nseg.ts\n#EXT-X-ENDLIST\n",
        at: "/films/\(name)/master.m3u8"
      )
      ground.serve("segment of \(name)", at: "/films/\(name)/seg.ts")
    }
    let urls = ["one", "two"].map { ground.server.address("/films/\($0)/master.m3u8") }
    ground.home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: films
          urls: [{ url: "\(urls[0])", type: hls }, { url: "\(urls[1])", type: hls }]
          publish: { dir: dir, layout: hls }
      """
    )
    let run = try ground.home.run()
    #expect(run.status == 0, "\(run)")
    let files = ground.files()
    for name in ["one", "two"] {
      #expect(files["\(name)/master.m3u8"] != nil, "\(files.keys)")
      #expect(files.contains { $0.hasPrefix("\(name)/") && $1 == "segment of \(name)" })
    }
    #expect(try ground.home.run("verify", "-q").status == 0)
  }
}
