import PrefetchTestSupport
import Testing

@Suite(
  "A lock file meets tiers, alternates, single items and servers",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct FreezeMeetingTests {
  @Test("A machine with the lock takes bodies from the second tier by digest alone")
  func tier() throws {
    let ground = try TierGround()
    ground.publish(6)
    let filler = try ground.machine("mode: read_write")
    #expect(try filler.run("run").status == 0)
    #expect(try filler.run("freeze").status == 0)
    _ = ground.drainRequests()
    let other = try ground.machine("mode: read")
    other.write(filler.read("prefetch.lock") ?? "", to: "prefetch.lock")
    let run = try other.run("run", "--frozen")
    #expect(run.status == 0, "\(run)")
    // Without the lock, items without a declared digest are asked of the origin.
    #expect(ground.drainRequests() == ["/list.json"])
    try ground.expectAll(6, in: other)
  }

  @Test("An alternate with the locked body takes the place of a server that has another")
  func alternate() throws {
    let ground = try FreezeGround()
    ground.serve("one", at: "/first/a.bin")
    ground.serve("one", at: "/second/a.bin")
    let rules = """
        - name: files
          urls:
            - url: "\(ground.server.address("/first/a.bin"))"
              alternates: ["\(ground.server.address("/second/a.bin"))"]
          publish: { dir: dir, layout: basename }
      """
    ground.home.configure(ground.configuration(rules))
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze").status == 0)
    ground.serve("new", at: "/first/a.bin")
    try ground.home.removeCache()
    let run = try ground.run("run")
    #expect(run.status == 0, "\(run)")
    #expect(ground.shown("a.bin") == "one")
    ground.serve("new", at: "/second/a.bin")
    try ground.home.removeCache()
    let drifted = try ground.run("run")
    #expect(drifted.status == 5 && drifted.errors.contains("[drifted]"), "\(drifted)")
  }

  @Test("`get` and a pulling server give no other body than the locked one")
  func singleItems() throws {
    let ground = try FreezeGround()
    ground.publish(["a.bin": "one"])
    ground.declare()
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze").status == 0)
    let url = ground.server.address("/pub/a.bin")
    ground.serve("new", at: "/pub/a.bin")
    #expect(try ground.run("get", url).output == "one")
    let confirmed = try ground.run("get", "--revalidate", url)
    #expect(confirmed.status == 5 && confirmed.errors.contains("[drifted]"), "\(confirmed)")
    let path = try ground.run("path", url).output.split(separator: "\n").first ?? ""
    _ = try ground.home.tool("rm", "-f", String(path))
    let drifted = try ground.run("get", url)
    #expect(drifted.status == 5 && drifted.errors.contains("[drifted]"), "\(drifted)")
    #expect(drifted.output.isEmpty)
    let serving = try Serving(ground.home, "--pull")
    defer { _ = serving.stop() }
    let response = try serving.client.get(ground.server.servedPath("/pub/a.bin"), [])
    #expect(response.status == 502, "\(response)")
  }

  @Test("A segment with two lists of one URL fails only where the lock pins another body")
  func sharedURL() throws {
    let ground = try FreezeGround()
    ground.publish(["a.bin": "one"])
    ground.publish(["a.bin": "one"], as: "/pub/other.txt")
    let segments = ["list", "other"].map {
      "  - { name: \($0), manifest: \"\(ground.server.address("/pub/\($0).txt"))\" }"
    }
    ground.home.configure(ground.configuration(segments.joined(separator: "\n")))
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze", "list").status == 0)
    ground.serve("new", at: "/pub/a.bin")
    let run = try ground.run("run", "--revalidate", "--json")
    #expect(run.status == 5, "\(run)")
    let states = try run.json().list("segments").map {
      "\($0.text("name") ?? "") \($0.text("state") ?? "")"
    }
    #expect(states.contains("list incomplete"), "\(run)")
  }

  @Test("`check` finds a damaged lock file")
  func checked() throws {
    let ground = try FreezeGround()
    ground.publish(["a.bin": "one"])
    ground.declare()
    #expect(try ground.run("run").status == 0)
    #expect(try ground.run("freeze").status == 0)
    #expect(try ground.run("check").status == 0)
    ground.home.write(ground.lock + "{}\n", to: "prefetch.lock")
    let check = try ground.run("check")
    #expect(check.status == 78 && check.errors.contains("[lockfile.damaged]"), "\(check)")
  }
}
