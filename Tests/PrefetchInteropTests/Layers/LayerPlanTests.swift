@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// Dry runs find what is in the way of published files whose bodies lie in lower layers.
@Suite("A dry run over lower layers", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LayerPlanTests {
  private let ground: LayerGround

  private var home: Home { ground.home }

  init() throws {
    ground = try LayerGround()
    ground.site["/a"] = Site.Page("one")
    ground.site["/b"] = Site.Page("two")
    let digests = ["one", "two"].map { Digest.hexadecimal($0) }
    let segments = """
        - name: site
          urls:
            - { url: "\(ground.url("/a"))", sha256: \(digests[0]) }
            - { url: "\(ground.url("/b"))", sha256: \(digests[1]) }
          publish: { dir: "\(ground.home.path("tree"))", layout: basename, link: copy }
      """
    ground.configure(segments)
    try #require(ground.home.run("-q").status == 0)
    try #require(ground.home.tool("rm", "-r", ground.home.path("tree")).status == 0)
    try ground.putAway(as: "base")
    ground.configure(segments, lower: ["base"])
    _ = ground.drainRequests()
  }

  @Test("A dry run judges a foreign file by the body in a lower layer, as the run does")
  func foreign() throws {
    FileTree.makeFolder(home.path("tree"))
    for (text, status) in [("other", Int32(3)), ("one", 0)] {
      home.write(text, to: "tree/a")
      let plan = try home.run("plan")
      let run = try home.run("run")
      #expect(plan.status == status && run.status == status, "\(plan)\n\(run)")
      #expect(plan.errors.contains("/a` stays as it is") == (status == 3), "\(plan)")
    }
    #expect(ground.drainRequests().isEmpty)
    #expect(home.read("tree/b") == "two")
  }

  @Test("A dry run ends while another process holds the tree, and changes nothing")
  func besidePublisher() throws {
    try #require(home.run("-q").status == 0)
    try #require(unsafe unlink(home.path("tree/b")) == 0)
    let before = FileTree.listing(home.path("tree"))
    let held = try home.shell(
      "flock '\(home.work)' sh -c '\"$prefetch\" plan; echo \"ended $?\"'",
      within: 60
    )
    #expect(held.output.contains("ended 0"), "\(held)")
    #expect(FileTree.listing(home.path("tree")) == before)
    #expect(try home.run("plan").errors.contains("1 missing"))
    #expect(try home.run("-q").status == 0)
    #expect(home.read("tree/b") == "two")
  }
}
