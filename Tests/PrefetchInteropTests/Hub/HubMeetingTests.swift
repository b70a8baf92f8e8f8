import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite(
  "A repository of a hub and the other features",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct HubMeetingTests {
  @Test("Eight jobs on one cache fetch each file of the hub once")
  func jobs() throws {
    let ground = try HubGround()
    ground.publish()
    let names = (1...8).map { "job-\($0)" }
    for name in names {
      ground.home.configure(
        """
        name: \(name)
        cache: { min_free: 0 }
        segments:
          - name: tiny
            manifest: "hf:\(HubGround.name)"
            publish: { dir: "\(name)", layout: hf }
        """,
        to: "\(name).yaml"
      )
    }
    ground.clear()
    let runs = try names.map { try ground.home.start(["run", "-c", "\($0).yaml"]) }
    for run in runs {
      let end = run.finish()
      #expect(end.status == 0, "\(end)")
    }
    let files = ground.requests.filter { $0.contains("/resolve/") }
    #expect(files.count == HubGround.files.count && Set(files).count == files.count, "\(files)")
    #expect(ground.storage.requests.count == 2)
    for name in names { #expect(ground.tree(name) == HubGround.cache([HubGround.files])) }
  }

  @Test("A second machine behind a filled tier asks the hub for no file")
  func tier() throws {
    let ground = try HubGround()
    ground.publish()
    let store = MemoryTier()
    let tier = try LoopbackServer(number: 3) { store.respond(to: $0) }
    let segment = """
      segments:
        - name: tiny
          manifest: "hf:\(HubGround.name)"
          publish: { dir: dir, layout: hf }
      """
    let remote = "url: \"\(tier.address("/t"))\", trust: true"
    ground.home.configure(
      "cache: { min_free: 0, remote: { \(remote), mode: read_write } }\n\(segment)"
    )
    let first = try ground.run()
    #expect(first.status == 0, "\(first)")
    var other = try Home(isInMemory: true)
    other.variables["HF_ENDPOINT"] = ground.home.variables["HF_ENDPOINT"]
    other.configure("cache: { min_free: 0, remote: { \(remote) } }\n\(segment)")
    ground.clear()
    let second = try other.run("run")
    #expect(second.status == 0, "\(second)")
    #expect(ground.requests.filter { $0.contains("/resolve/") } == [])
    #expect(ground.storage.requests.isEmpty)
    let reference = other.read("dir/models--acme--tiny/refs/main")
    #expect(reference == HubText.commit(of: HubGround.files))
  }

  @Test("Machines with shards take parts of a repository, and each file is on one of them")
  func shards() throws {
    let ground = try HubGround()
    ground.publish()
    ground.declare()
    var requested: [String] = []
    for number in 0..<2 {
      let run = try ground.run("run", "--shard", "\(number)/2", "--cache-dir", "cache-\(number)")
      #expect(run.status == 0, "\(run)")
      requested += ground.requests.filter { $0.contains("/resolve/") }
    }
    #expect(requested.count == HubGround.files.count, "\(requested)")
    #expect(Set(requested).count == requested.count, "\(requested)")
  }

  @Test("`export` and `path` know the files of a repository by their addresses")
  func exported() throws {
    let ground = try HubGround()
    let commit = ground.publish()
    ground.declare()
    #expect(try ground.run().status == 0)
    let url = ground.mirror.server.address(HubGround.path("config.json", commit))
    let path = try ground.run("path", url)
    #expect(path.status == 0, "\(path)")
    #expect(try ground.run("export", "copy").status == 0)
    let explain = try ground.run("explain", url)
    #expect(explain.status == 0 && explain.output.contains("immutable"), "\(explain)")
  }

  @Test("A large body that breaks off is resumed at the storage, not received again")
  func resumed() throws {
    let ground = try HubGround()
    let body = (0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
    let file = HubText.File("model.safetensors", body, isLarge: true)
    ground.publish([file])
    ground.conductStorage { _ in
      let head = Script.head(
        200,
        [("ETag", "\"\(file.digest)\""), ("Content-Length", "\(body.count)")]
      )
      return Script([.send(head + body.prefix(1 << 20)), .close])
    }
    ground.declare("publish: { dir: dir }")
    let broken = try ground.run()
    #expect(broken.status == 4, "\(broken)")
    ground.conductStorage { _ in nil }
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    let ranges = ground.storage.requests.compactMap { $0.headers["Range"] }
    #expect(ranges.count == 1 && ranges[0].hasPrefix("bytes=") && ranges[0] != "bytes=0-")
    #expect(FileTree.read(ground.home.path("dir/model.safetensors")) == body)
  }
}
