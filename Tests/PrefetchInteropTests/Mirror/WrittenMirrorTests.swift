@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "Files of a mirror that another program wrote to",
  .enabled(if: Binary.isGiven, "\(Binary.absence)")
)
struct WrittenMirrorTests {
  /// Form of the files: hard links to the stored bodies, or copies on another file system.
  enum Form: String, CaseIterable {
    case links, copies
  }

  enum Deed: String, CaseIterable {
    case written, rotten

    func make(of file: String) throws {
      switch self {
      case .written: try TreeChange.written.make(of: file)
      case .rotten: try TreeChange.rot(file)
      }
    }
  }

  /// A complete mirror; copies need a folder on another file system than the cache's.
  private struct Stand {
    let ground: MirrorGround
    let elsewhere: TemporaryDirectory
    let folder: String
    let stores: [String]

    init(_ form: Form) throws {
      ground = try MirrorGround(isInMemory: form == .copies)
      elsewhere = try TemporaryDirectory()
      folder = "\(elsewhere.path)/dir"
      let own = "\(folder)/.prefetch"
      stores =
        form == .copies
        ? ["--cache-dir", ground.home.cache, "--state-dir", own]
        : ["--cache-dir", own, "--state-dir", own]
      ground.publish(files: ["a": "one", "b": "two"])
    }

    func mirror() throws -> ProgramRun {
      ground.site.clearRequests()
      let words = ground.arguments([ground.server.address("/pub/SHA256SUMS"), folder] + stores)
      return try ground.home.start(words).finish()
    }

    func verify(_ words: String...) throws -> ProgramRun {
      try ground.home.run(["verify"] + words + stores)
    }

    func text(_ name: String) -> String? {
      FileTree.read("\(folder)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }
  }

  @Test(
    "`verify` names a changed file of a mirror, and `--repair` with a run restores it",
    arguments: Form.allCases,
    Deed.allCases
  )
  func writtenFileIsRepaired(_ form: Form, _ deed: Deed) throws {
    let stand = try Stand(form)
    let first = try stand.mirror()
    try #require(first.status == 0, "\(first)")
    let file = "\(stand.folder)/a"
    let links = try #require(FileTree.status(file)).st_nlink
    try #require(links == (form == .links ? 2 : 1), "the files come in another way")
    try deed.make(of: file)

    let verify = try stand.verify()
    #expect(verify.status == 74, "\(verify)")
    #expect(
      verify.errors.contains("`\(file)`, published by segment `mirror`, was changed"),
      "\(verify)"
    )
    #expect(verify.errors.contains("the next `prefetch mirror` makes it again"), "\(verify)")
    #expect(try stand.verify("--repair", "-q").status == 74)
    #expect(stand.text("a") == nil)

    let second = try stand.mirror()
    #expect(second.status == 0, "\(second)")
    #expect(stand.text("a") == "one")
    // A copy is made of the stored body, which is sound.
    let bodies = stand.ground.requests.filter { $0 == "/pub/a" }.count
    #expect(bodies == (form == .links ? 1 : 0))
    #expect(try stand.verify("-q").status == 0)
  }

  @Test(
    "A refetched body replaces the damaged file that was linked to it"
  )
  func leftoverOfDamagedBodyIsReplaced() throws {
    let stand = try Stand(.links)
    try #require(stand.mirror().status == 0)
    try TreeChange.rot("\(stand.folder)/a")
    // Only the stored body is lost, and the file keeps its bytes.
    let digest = Digest.hexadecimal("one")
    let body = "\(stand.folder)/.prefetch/objects/sha256/\(digest.prefix(2))/\(digest)"
    try #require(unsafe unlink(body) == 0)

    let run = try stand.mirror()
    #expect(stand.text("a") == "one", "\(run)")
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("`\(stand.folder)/a` was changed in its place"), "\(run)")
    #expect(try stand.mirror().status == 0)
    #expect(try stand.verify("-q").status == 0)
  }
}
