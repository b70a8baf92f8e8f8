import PrefetchTestSupport
import Testing

@Suite("`select` takes the newest versions", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct NewestVersionTests {
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
  }

  private var list: String { ground.server.address("/pub/SHA256SUMS") }

  private func publish(_ names: String...) {
    ground.publish(files: Dictionary(uniqueKeysWithValues: names.map { ($0, "body of \($0)") }))
  }

  private func declare(_ rules: String) {
    ground.home.configure(
      """
      cache: { min_free: 0 }
      network: { retries: { items: 0 } }
      segments:
        - name: tools
          manifest: "\(list)"
          publish: { dir: dir, layout: basename }
          \(rules)
      """
    )
  }

  private var names: [String] { ground.files().keys.sorted() }

  @Test("A mirror keeps the newest version, and goes back only when that is allowed")
  func mirror() throws {
    publish("tool-1.9.iso", "tool-1.10.iso", "README", "other-9.iso")
    let words = [list, "dir", "--select", "tool-@v.iso"]
    #expect(try ground.mirror(words).status == 0)
    #expect(names == ["tool-1.10.iso"])
    #expect(ground.requests == ["/pub/SHA256SUMS", "/pub/tool-1.10.iso"])
    publish("tool-1.11.iso", "tool-1.10.iso", "README")
    #expect(try ground.mirror(words).status == 0)
    #expect(names == ["tool-1.11.iso"])
    publish("tool-1.9.iso", "tool-1.10.iso")
    let back = try ground.mirror(words)
    #expect(back.status == 3, "\(back)")
    let text = "its newest `tool-@v.iso` is 1.10, and the stored one is 1.11; `--allow rollback`"
    #expect(back.errors.contains(text), "\(back)")
    #expect(names == ["tool-1.11.iso"])
    #expect(try ground.mirror(words + ["--allow", "rollback"]).status == 0)
    #expect(names == ["tool-1.10.iso"])
    #expect(try ground.mirror(words).status == 0)
  }

  @Test("`check` and `publish` refuse a local list of which nothing fits `select`, as a run does")
  func nothingFits() throws {
    publish("tool-1.9.iso")
    let url = ground.server.address("/pub/tool-1.9.iso")
    ground.home.write("\(url)\n", to: "names.txt")
    func declare(_ name: String) {
      ground.home.configure(
        """
        cache: { min_free: 0 }
        allow_http: [127.0.0.1]
        segments:
          - name: tools
            manifest: names.txt
            publish: { dir: dir, layout: basename }
            select: { name: "\(name)" }
        """
      )
    }
    declare("tool-@v.iso")
    #expect(try ground.home.run("check").status == 0)
    #expect(try ground.home.run("run").status == 0)
    declare("tol-@v.iso")
    let text = "none of its 1 item fits `select`"
    for (command, status) in [("check", 78), ("run", 3), ("publish", 3)] as [(String, Int32)] {
      let run = try ground.home.run(command)
      #expect(run.status == status && run.errors.contains(text), "\(command): \(run)")
    }
    #expect(names == ["tool-1.9.iso"])
  }

  @Test("Two versions of each group stay, with all their files")
  func groups() throws {
    var listed: [String] = []
    for system in ["linux", "mac"] {
      for version in ["1.0", "1.1rc1", "1.1", "0.9"] {
        listed.append("tool-\(version)-\(system).zip")
      }
    }
    ground.publish(files: Dictionary(uniqueKeysWithValues: listed.map { ($0, "body of \($0)") }))
    declare("select: { name: \"tool-@v-@*.zip\", newest: 2 }")
    #expect(try ground.home.run("run").status == 0)
    let expected = ["1.1-linux", "1.1-mac", "1.1rc1-linux", "1.1rc1-mac"]
    #expect(names == expected.map { "tool-\($0).zip" })
    let explained = try ground.home.run("explain", ground.server.address("/pub/tool-1.0-mac.zip"))
    let reason = "`select` takes the newest 2 versions, and this is 1.0"
    #expect(explained.output.contains(reason), "\(explained)")
    let readme = try ground.home.run("plan")
    #expect(readme.status == 0, "\(readme)")
    declare("select: { name: \"tool-@v-@*.zip\", newest: 2 }\n    exclude: [\"*rc*\"]")
    #expect(try ground.home.run("run").status == 0)
    #expect(names == ["1.0-linux", "1.0-mac", "1.1-linux", "1.1-mac"].map { "tool-\($0).zip" })
    declare("select: { name: \"tool-@v-@*.zip\", newest: 2 }\n    keep: 1")
    #expect(try ground.home.run("run").status == 0)
    #expect(names.count == 1)
  }

  @Test("The last version stays until the next one is stored")
  func successor() throws {
    publish("tool-1.iso")
    declare("select: { name: \"tool-@v.iso\" }")
    #expect(try ground.home.run("run").status == 0)
    publish("tool-1.iso", "tool-2.iso")
    let page = ground.site["/pub/tool-2.iso"]
    ground.site["/pub/tool-2.iso"] = Site.Page([], status: 500)
    let failed = try ground.home.run("run")
    #expect(failed.status == 3, "\(failed)")
    #expect(names == ["tool-1.iso"])
    // A lost tree gets the retained file again.
    try #require(ground.home.tool("rm", "-r", ground.home.path("dir")).status == 0)
    #expect(try ground.home.run("run").status == 3)
    #expect(names == ["tool-1.iso"])
    ground.site["/pub/tool-2.iso"] = page
    #expect(try ground.home.run("run").status == 0)
    #expect(names == ["tool-2.iso"])
  }

  @Test("A list in which `select` finds nothing, or lost most groups, removes nothing")
  func renamed() throws {
    publish("a-1.iso", "b-1.iso", "c-1.iso", "d-1.iso")
    let words = [list, "dir", "--select", "@*-@v.iso"]
    #expect(try ground.mirror([list, "new", "--select", "@*-@v.img"]).status == 4)
    #expect(try ground.mirror(words).status == 0)
    publish("a_1.iso", "b_1.iso", "c_1.iso", "d_1.iso")
    let none = try ground.mirror(words)
    #expect(none.status == 3, "\(none)")
    #expect(none.errors.contains("none of its 4 items fits `select`"), "\(none)")
    publish("a-2.iso", "b_1.iso", "c_1.iso", "d_1.iso")
    let few = try ground.mirror(words)
    #expect(few.status == 3, "\(few)")
    #expect(few.errors.contains("no version any more for 3 of 4 groups of names"), "\(few)")
    #expect(names.count == 4)
    #expect(try ground.mirror(words + ["--allow", "mass-removal"]).status == 0)
    #expect(names == ["a-2.iso"])
  }

  @Test("A shard guards the versions of the whole list")
  func sharded() throws {
    publish("tool-1.iso", "tool-2.iso", "kit-3.iso", "kit-4.iso")
    declare("select: { name: \"@*-@v.iso\" }")
    var taken = 0
    for number in 1...2 {
      ground.site.clearRequests()
      let run = try ground.home.run(
        "run",
        "--shard",
        "\(number - 1)/2",
        "--cache-dir",
        "part\(number)"
      )
      #expect(run.status == 0, "\(run)")
      taken += ground.requests.count { $0.hasSuffix(".iso") }
    }
    #expect(taken == 2)
    publish("tool-1.iso", "kit-4.iso")
    let run = try ground.home.run("run", "--shard", "0/2", "--cache-dir", "part1")
    #expect(run.status != 0 && run.errors.contains("`tool-@v.iso` is 1"), "\(run)")
  }

  @Test("A list that the index alone remembers is guarded after the cache moved")
  func moved() throws {
    publish("tool-2.iso")
    let words = [list, "dir", "--select", "tool-@v.iso"]
    #expect(try ground.mirror(words).status == 0)
    try #require(ground.home.tool("mv", "dir", "moved").status == 0)
    publish("tool-1.iso")
    #expect(try ground.mirror([list, "moved", "--select", "tool-@v.iso"]).status == 3)
  }

  @Test(
    "A wrong `select` is refused with its place",
    arguments: [
      ("select: { name: \"tool.iso\" }", "it has no `@v`"),
      ("select: { name: \"a-@v-@v\" }", "a second `@v` at character 6"),
      ("select: { newest: 2 }", "`select` has no `name`"),
      ("select: { name: \"a-@v\", order: random }", "`random`"),
      ("select: { name: \"a-@v\", newest: 0 }", "newest"),
    ]
  )
  func wrong(rules: String, words: String) throws {
    declare(rules)
    let run = try ground.home.run("check")
    #expect(run.status == 78, "\(run)")
    #expect(run.errors.contains(words) && run.errors.contains("prefetch.yaml:"), "\(run)")
  }

  @Test("`--newest` and `--order` need `--select`")
  func options() throws {
    publish("tool-1.iso")
    for option in [["--newest", "2"], ["--order", "date"]] {
      let run = try ground.mirror([list, "dir"] + option)
      #expect(run.status == 64 && run.errors.contains("needs `--select`"), "\(run)")
    }
    #expect(try ground.mirror([list, "dir", "--select", "tool"]).status == 64)
  }
}
