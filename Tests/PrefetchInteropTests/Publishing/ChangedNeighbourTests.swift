@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A changed tree among its neighbours",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx")
)
struct ChangedNeighbourTests {
  /// Other published features that are combined with a change.
  private struct Neighbours {
    let nginx: Nginx
    let home: Home

    init() throws {
      nginx = try Nginx()
      home = try Home(isInMemory: true)
      nginx.write("same", to: "a")
      nginx.write("same", to: "b")
      nginx.write("third", to: "c")
      FileTree.makeFolder("\(nginx.files)/s")
      nginx.write(
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n1.ts\n#EXTINF:2,\n2.ts\n#EXT-X-ENDLIST\n",
        to: "s/f.m3u8"
      )
      nginx.write("one", to: "s/1.ts")
      nginx.write("two", to: "s/2.ts")
      let tree = "publish: { dir: tree, layout: basename, link: hardlink }"
      home.configure(
        """
        segments:
          - { name: one, urls: [\(nginx.url("a")), \(nginx.url("b")), \(nginx.url("c"))], \(tree) }
          - { name: two, urls: [\(nginx.url("c"))], \(tree) }
          - name: film
            urls: [{ url: "\(nginx.url("s/f.m3u8"))", type: hls, id: film }]
            publish: { dir: films, layout: hls, link: hardlink }
        cache: { min_free: 0 }
        """
      )
      try #require(home.run("-q").status == 0)
    }
  }

  @Test(
    "A changed file is repaired for twins, for shared items, and for a piece of a stream",
    arguments: [
      ("tree/a", "same", 2), ("tree/c", "third", 1),
      (Digest.marking("films/film/v1/000001.ts", "one"), "one", 1),
    ],
    [["publish"], ["verify", "--repair"]]
  )
  func neighbours(_ file: (path: String, text: String, fetches: Int), _ deed: [String]) throws {
    let ground = try Neighbours()
    let home = ground.home
    try TreeChange.written.make(of: home.path(file.path))
    let result = try home.run(deed)
    #expect(result.status == 74, "\(result)")
    #expect(result.errors.contains("work/\(file.path)`"), "\(result)")
    #expect(home.read(file.path) == nil, "no bytes rather than wrong ones")
    let plan = try home.run("plan")
    #expect(plan.lines.count { $0.hasPrefix("fetch\t") } == file.fetches, "\(plan)")
    #expect(try home.run("--offline", "-q").status == 69)
    let run = try home.run("-q")
    #expect(run.status == 0, "\(run)")
    #expect(home.read(file.path) == file.text)
    #expect(try home.run("publish", "-q").status == 0)
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test(
    "A lost file returns while its item is paused, and is repaired while locked and room is short"
  )
  func held() throws {
    let ground = try Neighbours()
    let (home, url) = (ground.home, ground.nginx.url("c"))
    #expect(try home.run("pause", url).status == 0)
    FileTree.remove(home.path("tree/c"))
    #expect(try home.run("-q").status == 0)
    #expect(home.read("tree/c") == "third")
    #expect(try home.run("resume", url).status == 0)
    #expect(try home.run("lock", url).status == 0)
    try TreeChange.written.make(of: home.path("tree/c"))
    #expect(try home.run("publish", "-q").status == 74)
    #expect(try home.run("-q", "--set", "cache.size=20kB").status == 0)
    #expect(home.read("tree/c") == "third")
    #expect(try home.run("verify", "-q").status == 0)
  }
}
