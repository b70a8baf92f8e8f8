@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite("A folder that another tool filled", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct AdoptedMirrorTests {
  private let ground: MirrorGround

  init() throws {
    ground = try MirrorGround()
    FileTree.makeFolder(ground.home.path("dir"))
  }

  private var list: String { ground.server.address("/pub/SHA256SUMS") }

  private func date(_ name: String, seconds: Int) throws {
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    try #require(unsafe utimensat(AT_FDCWD, ground.home.path("dir/\(name)"), [time, time], 0) == 0)
  }

  /// Writes a file as `wget -N` leaves it.
  private func put(_ text: String, at name: String) throws {
    ground.home.write(text, to: "dir/\(name)")
    try date(name, seconds: MirrorGround.mondaySeconds)
  }

  private func methods(of path: String) -> [String] {
    ground.site.requests.filter { $0.path == path }.map(\.method)
  }

  @Test("`mirror --adopt` adopts files with the listed digests without a request for them")
  func adoptedByDigest() throws {
    ground.publish(files: ["a": "one", "b": "two", "c": "three"])
    try put("one", at: "a")
    try put("other", at: "b")
    let before = try ground.status("a")
    let run = try ground.mirror(list, "dir", "--adopt")
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("/b` stays as it is"), "\(run)")
    #expect(methods(of: "/pub/a").isEmpty)
    #expect(ground.files() == ["a": "one", "b": "other", "c": "three"])
    let after = try ground.status("a")
    #expect(after.st_ino == before.st_ino)
    #expect(after.st_mtim.tv_sec == before.st_mtim.tv_sec)
    #expect(after.st_mode & 0o777 == 0o644)
    // Adopted files are removed with their items, like every other file of the mirror.
    try #require(unsafe unlink(ground.home.path("dir/b")) == 0)
    ground.publish(["b", "c"])
    let second = try ground.mirror(list, "dir")
    #expect(second.status == 0, "\(second)")
    #expect(ground.files() == ["b": "two", "c": "three"])
  }

  @Test("Files that are not adopted serve readers and stay foreign")
  func notAdopted() throws {
    ground.publish(files: ["a": "one"])
    try put("one", at: "a")
    let run = try ground.mirror(list, "dir")
    #expect(run.status == 0, "\(run)")
    #expect(methods(of: "/pub/a") == ["GET"])
    #expect(run.errors.contains("/a`, and no record says that prefetch put it there"), "\(run)")
  }

  @Test("Files that serve without a record are watched as published ones are")
  func servingWatched() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    try put("one", at: "a")
    try put("two", at: "b")
    try #require(ground.mirror(list, "dir").status == 0)
    func look(_ command: String) throws -> ProgramRun {
      try ground.home.run(
        command,
        "--cache-dir",
        "dir/.prefetch",
        "--state-dir",
        "dir/.prefetch"
      )
    }
    #expect(try look("verify").status == 0)
    try put("oNe", at: "a")
    try date("a", seconds: MirrorGround.mondaySeconds + 1)
    let edited = try look("verify")
    #expect(edited.status == 74, "\(edited)")
    #expect(edited.errors.contains("/a`"), "\(edited)")
    #expect(try look("verify").status == 74)
    #expect(ground.home.read("dir/a") == "oNe")
    for name in ["a", "b"] { try #require(unsafe unlink(ground.home.path("dir/\(name)")) == 0) }
    let status = try ground.home.run(
      "status",
      "--nagios",
      "--cache-dir",
      "dir/.prefetch",
      "--state-dir",
      "dir/.prefetch"
    )
    #expect(status.status == 2, "\(status)")
    #expect(try ground.mirror(list, "dir").status == 0)
    #expect(ground.files() == ["a": "one", "b": "two"])
  }

  @Test("A file without a digest is adopted where a HEAD has its size and time")
  func adoptedByHead() throws {
    for name in ["a", "b", "c"] { ground.serve("body \(name)", at: "/\(name)") }
    let urls = ["a", "b", "c"].map { ground.server.address("/\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    try put("body a", at: "a")
    // The size is right, but the date is another.
    try put("body b", at: "b")
    try date("b", seconds: MirrorGround.mondaySeconds - 60)
    let run = try ground.mirror("urls.txt", "dir", "--adopt")
    #expect(methods(of: "/a") == ["HEAD"], "\(run)")
    #expect(methods(of: "/b") == ["HEAD", "GET"], "\(run)")
    #expect(methods(of: "/c") == ["GET"], "\(run)")
    // The fetched bytes equal the file's, so that the file is adopted as well.
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ["a": "body a", "b": "body b", "c": "body c"])
    // The next night's requests use the validators of the HEAD.
    let second = try ground.mirror("urls.txt", "dir", "--json")
    #expect(second.status == 0, "\(second)")
    #expect(try second.totals()["bytes_body"] == 0)
    #expect(ground.files() == ["a": "body a", "b": "body b", "c": "body c"])
  }

  @Test("A dry run with `--adopt` plans no transfer of existing files and adopts none")
  func planned() throws {
    ground.publish(files: ["a": "one", "b": "two", "c": "three"])
    try put("one", at: "a")
    try put("other", at: "b")
    let names = ground.files()
    let plan = try ground.mirror(list, "dir", "--adopt", "-n", "--items", "all")
    #expect(plan.status == 3, "\(plan)")
    #expect(plan.errors.contains("/b` stays as it is"), "\(plan)")
    #expect(actions(plan) == ["a": "keep", "b": "fetch", "c": "fetch"], "\(plan)")
    #expect(methods(of: "/pub/a").isEmpty)
    #expect(ground.files() == names)
    #expect(try ground.status("a").st_nlink == 1)
    // Without a digest the same requests are sent as in a run.
    for name in ["d", "e"] { ground.serve("body \(name)", at: "/\(name)") }
    let urls = ["d", "e"].map { ground.server.address("/\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    try put("body d", at: "d")
    try put("body e", at: "e")
    try date("e", seconds: MirrorGround.mondaySeconds - 60)
    let second = try ground.mirror("urls.txt", "dir", "--adopt", "-n", "--items", "all")
    #expect(actions(second) == ["d": "keep", "e": "fetch"], "\(second)")
    #expect(methods(of: "/d") == ["HEAD"])
  }

  private func actions(_ plan: ProgramRun) -> [String: String] {
    let rows = plan.lines.map { $0.split(separator: "\t").map { String($0) } }
    return Dictionary(
      uniqueKeysWithValues: rows.compactMap { row in
        row.count == 5 ? (row[3].split(separator: "/").last.map { String($0) } ?? "", row[0]) : nil
      }
    )
  }

  @Test("A later `--adopt` adopts the files that an earlier run left foreign")
  func adoptedLater() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    try put("one", at: "a")
    #expect(try ground.mirror(list, "dir").status == 0)
    let adopting = try ground.mirror(list, "dir", "--adopt")
    #expect(adopting.status == 0, "\(adopting)")
    ground.publish(["b"])
    let second = try ground.mirror(list, "dir")
    #expect(second.status == 0, "\(second)")
    #expect(ground.files() == ["b": "two"])
  }

  @Test(
    "A file of another user serves, is named with its owner, and is named again when it stays",
    .enabled(if: geteuid() == 0, "needs root, who may give files away")
  )
  func ofAnotherUser() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    try put("one", at: "a")
    try #require(unsafe chown(ground.home.path("dir/a"), 12_345, 12_345) == 0)
    let plain = try ground.mirror(list, "dir")
    #expect(plain.status == 0, "\(plain)")
    let adopting = try ground.mirror(list, "dir", "--adopt")
    #expect(adopting.status == 0, "\(adopting)")
    for run in [plain, adopting] {
      #expect(run.errors.contains("/a` belongs to another user (12345)"), "\(run)")
      #expect(run.errors.contains("`chown`"), "\(run)")
      #expect(!run.errors.contains("mirror again with `--adopt`"), "\(run)")
    }
    ground.publish(["b"])
    let dropped = try ground.mirror(list, "dir")
    #expect(dropped.status == 0, "\(dropped)")
    #expect(dropped.errors.contains("/a` stays although the list dropped its item"), "\(dropped)")
    #expect(ground.files() == ["a": "one", "b": "two"])
    #expect(try !ground.mirror(list, "dir").errors.contains("stays although"))
  }

  @Test("An offline run adopts files by their digests")
  func adoptedOffline() throws {
    ground.publish(files: ["a": "one", "b": "two"])
    let sums = String(decoding: ground.site["/pub/SHA256SUMS"]?.body ?? [], as: UTF8.self)
    ground.home.write(sums, to: "SHA256SUMS")
    try put("one", at: "a")
    try put("two", at: "b")
    let base = ground.server.address("/pub/")
    let run = try ground.mirror(
      ["SHA256SUMS", "dir", "--adopt", "--offline", "--base-url", base, "--json"]
    )
    #expect(run.status == 0, "\(run)")
    #expect(ground.requests.isEmpty)
    #expect(try run.totals()["kept"] == 2)
    #expect(try ground.home.run("verify", "--cache-dir", "dir/.prefetch").status == 0)
  }

  @Test("A file that one of two segments adopts serves both")
  func adoptedForTwo() throws {
    ground.serve("one", at: "/a")
    let url = "\(ground.server.address("/a"))#sha256=\(Digest.hexadecimal("one"))"
    for order in [["plain", "tree"], ["tree", "plain"]] {
      let segments = order.map { name in
        name == "plain"
          ? "{ name: plain, urls: ['\(url)'] }"
          : "{ name: tree, urls: ['\(url)'], publish: { dir: dir, layout: basename, adopt: true } }"
      }
      ground.home.configure(
        "cache: { min_free: 0 }\nsegments: [\(segments.joined(separator: ", "))]"
      )
      try ground.home.removeCache()
      try put("one", at: "a")
      ground.site.clearRequests()
      let run = try ground.home.run("run", "--json")
      #expect(run.status == 0, "\(run)")
      let states = try run.json().list("segments").map { $0.text("state") }
      #expect(states == ["current", "current"], "\(run)")
      #expect(ground.files() == ["a": "one"])
      #expect(try ground.home.run("verify").status == 0)
    }
  }

  @Test("A link, a file with a second link and one of another user stay foreign")
  func foreignFilesStay() throws {
    ground.publish(files: ["a": "one", "b": "two", "sub/c": "three"])
    ground.home.write("one", to: "elsewhere")
    try #require(unsafe symlink(ground.home.path("elsewhere"), ground.home.path("dir/a")) == 0)
    try put("two", at: "b")
    try #require(unsafe link(ground.home.path("dir/b"), ground.home.path("second")) == 0)
    FileTree.makeFolder(ground.home.path("real"))
    ground.home.write("three", to: "real/c")
    try #require(unsafe symlink(ground.home.path("real"), ground.home.path("dir/sub")) == 0)
    let run = try ground.mirror(list, "dir", "--adopt")
    for name in ["a", "b", "sub/c"] { #expect(methods(of: "/pub/\(name)") == ["GET"], "\(run)") }
    #expect(run.status != 0, "\(run)")
    #expect(run.errors.contains("/b` has a further hard link"), "\(run)")
    let facts = try #require(FileTree.status(ground.home.path("elsewhere")))
    #expect(facts.st_nlink == 1)
    #expect(try #require(FileTree.status(ground.home.path("real/c"))).st_nlink == 1)
  }

  @Test("`publish: {adopt: true}` sets a file's mode to 0444 and makes it the tree's own")
  func adoptedByConfiguration() throws {
    ground.serve("one", at: "/a")
    ground.home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: site
          urls: ["\(ground.server.address("/a"))#sha256=\(Digest.hexadecimal("one"))"]
          publish: { dir: dir, layout: basename, adopt: true }
      """
    )
    try put("one", at: "a")
    let run = try ground.home.run()
    #expect(run.status == 0, "\(run)")
    #expect(ground.requests.isEmpty)
    let facts = try ground.status("a")
    #expect(facts.st_nlink == 2)
    #expect(facts.st_mode & 0o777 == 0o444)
    #expect(try ground.home.run("verify", "-q").status == 0)
  }

  @Test(
    "A folder that the real wget filled is adopted without a transfer",
    .enabled(if: Wget.isInstalled, "needs wget")
  )
  func filledByWget() throws {
    for name in ["x/a", "x/y/b"] { ground.serve("body \(name)", at: "/\(name)") }
    let urls = ["x/a", "x/y/b"].map { ground.server.address("/\($0)") + "\n" }.joined()
    ground.home.write(urls, to: "urls.txt")
    try Wget.run(["-N", "-i", "urls.txt"], into: "dir", of: ground.home)
    let run = try ground.mirror("urls.txt", "dir", "--layout", "basename", "--adopt", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(Set(ground.site.requests.map(\.method)) == ["HEAD"])
    #expect(try run.totals()["bytes_body"] == 0)
    #expect(ground.files() == ["a": "body x/a", "b": "body x/y/b"])
  }
}
