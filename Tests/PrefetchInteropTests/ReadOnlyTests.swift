import PrefetchTestSupport
import Testing

@Suite("Reading commands", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReadOnlyTests {
  private let home: Home
  private let site: Site
  private let gate = Gate()
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/one": Site.Page("one"), "/two": Site.Page("two")])
    self.site = site
    let gate = gate
    server = try LoopbackServer { request in
      let response = site.respond(to: request)
      return request.path == "/held" ? Script([.pause(gate)] + response.steps) : response
    }
    home = try Home()
    declare(["/one", "/two"])
  }

  private func declare(_ paths: [String]) {
    let urls = paths.map(server.address).joined(separator: ", ")
    home.configure("segments: [{ name: basics, urls: [\(urls)] }]")
  }

  private var commands: [[String]] {
    [
      ["list"], ["status"], ["verify"], ["path", server.address("/one")],
      ["explain", server.address("/one")], ["get", "--offline", server.address("/one")],
      ["plan"], ["plan", "--offline"], ["--dry-run", "--json"], ["config"], ["check"],
    ]
  }

  /// Whether this process may create a private mount.
  private static let mayMount: Bool = {
    guard let home = try? Home(), let unshare = Tool("unshare") else { return false }
    let run = try? RunningProgram(
      unshare.path,
      ["-m", "mount", "--bind", home.work, home.work],
      environment: home.variables,
      folder: nil
    ).finish()
    return run?.status == 0
  }()

  @Test(
    "Reading commands work on a read-only mount of the cache and leave it as it is",
    .enabled(if: mayMount, "may not mount")
  )
  func workReadOnly() throws {
    #expect(try home.run().status == 0)
    let before = FileTree.listing(home.cache)
    for command in commands {
      let words = command.map { "'\($0)'" }.joined(separator: " ")
      let run = try home.shell(
        """
        exec unshare -m bash -ec '
          mount --bind "$1" "$1"
          mount -o remount,ro,bind "$1"
          if touch "$1/x" 2>/dev/null; then exit 99; fi
          shift
          exec "$@"
        ' bash '\(home.cache)' "$prefetch" \(words)
        """
      )
      #expect(run.status == 0, "\(command): \(run)")
      #expect(FileTree.listing(home.cache) == before, "\(command)")
    }
    let run = try home.shell(
      """
      exec unshare -m bash -ec '
        mount --bind "$1" "$1"
        mount -o remount,ro,bind "$1"
        shift
        exec "$@"
      ' bash '\(home.cache)' "$prefetch" run
      """
    )
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("read-only file system; name it under `cache.lower`"), "\(run)")
    #expect(FileTree.names(home.cache).filter { $0.contains("-wal") || $0.contains("-shm") } == [])
  }

  @Test(
    "A server on a read-only mount plays a stream and warns once that it keeps no old one",
    .enabled(if: mayMount, "may not mount")
  )
  func streams() throws {
    site["/film.m3u8"] = Site.Page(
      "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\none\n#EXT-X-ENDLIST\n"
    )
    home.configure(
      "segments: [{ name: films, urls: [{ url: \"\(server.address("/film.m3u8"))\", type: hls, id: film }] }]"
    )
    #expect(try home.run("-q").status == 0)
    let before = FileTree.listing(home.cache)
    let serving = try RunningProgram(
      try #require(Tool("unshare")).path,
      [
        "-m", "bash", "-ec",
        "mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"; shift; exec \"$@\"",
        "bash", home.cache, try #require(Binary.path), "serve", "--listen", "127.0.0.1:0",
      ],
      environment: home.variables,
      folder: home.work
    )
    let client = try RawClient(try #require(serving.firstLine()))
    let main = try client.get("/-/item/-/film/film.m3u8").body
    let piece = try #require(main.split(separator: "\n").first { $0.hasPrefix("@") })
    #expect(try client.get("/-/item/-/film/\(piece)").body == "one")
    #expect(serving.waitForErrors("players of a stream are cut off when it is replaced"))
    serving.signal(15)
    let end = serving.finish()
    #expect(end.status == 143 && end.errors.split(separator: "\n").count == 2, "\(end)")
    #expect(FileTree.listing(home.cache) == before)
  }

  @Test("Reading commands leave a writable cache as it is", .timeLimit(.minutes(10)))
  func leaveNothing() throws {
    #expect(try home.run().status == 0)
    let before = FileTree.listing(home.cache)
    for command in commands {
      let run = try home.start(command).finish()
      #expect(run.status == 0, "\(command): \(run)")
      #expect(FileTree.listing(home.cache) == before, "\(command)")
    }
  }

  @Test("Reading commands work beside a run and do not disturb it", .timeLimit(.minutes(10)))
  func workDuringRun() throws {
    #expect(try home.run().status == 0)
    site["/held"] = Site.Page("held")
    declare(["/one", "/two", "/held"])
    let run = try home.start([])
    defer { gate.open() }
    #expect(server.waitForRequest("/held"))
    // Probing the item that is held back would wait for ever.
    for command in commands where !["plan", "--dry-run"].contains(command[0]) {
      let other = try home.start(command).finish(within: 30)
      #expect(other.status == 0, "\(command): \(other)")
    }
    let plan = try home.run("plan", "--no-probe")
    #expect(plan.status == 0)
    #expect(plan.lines.filter { $0.hasPrefix("fetch") }.count == 1)
    gate.open()
    let ended = run.finish()
    #expect(ended.status == 0, "\(ended)")
    #expect(try home.run("list").lines.count == 3)
    #expect(FileTree.names(home.cache).filter { $0.contains("-wal") || $0.contains("-shm") } == [])
  }
}
