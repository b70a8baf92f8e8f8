@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

/// The real wget.
enum Wget {
  static let isInstalled = Tool("wget") != nil

  /// Downloads into a folder of the working folder.
  static func run(_ words: [String], into folder: String, of home: Home) throws {
    let run = try home.tool("wget", ["-q", "-P", home.path(folder)] + words)
    try #require(run.status == 0, "\(run)")
  }
}

@Suite(
  "Names of a mirror beside those of wget",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Wget.isInstalled, "needs wget")
)
struct WgetNameTests {
  private let ground: MirrorGround

  /// Paths and queries from which names are made, awkward in different ways.
  private static let paths = [
    "/x/100%25%20x", "/x/a", "/x/y/b?c=1", "/x/y/b?c=a/b", "/x/y/b?c=a%2Fb%20c", "/x/%C3%BC",
    "/x/a%20b", "/x/c%252Fd", "/x/q%3Fs", "/x/a+b&c", "/x/y/", "/x/y/?l=1", "/x/1%25%25",
  ]

  init() throws {
    ground = try MirrorGround()
    for path in Self.paths { ground.serve("body of \(path)", at: path) }
    let urls = Self.paths.map { ground.server.address($0) + "\n" }
    ground.home.write(urls.joined(), to: "urls.txt")
    for folder in ["wget", "dir"] { FileTree.makeFolder(ground.home.path(folder)) }
  }

  /// Options of wget and prefetch, paired as in the guide's table.
  @Test(
    "Names of a mirror equal those of wget, as the guide's table says",
    arguments: [
      (["-N"], ["--layout", "basename"]),
      (["-N", "-x", "-nH"], []),
      (["-N", "-x", "-nH", "--cut-dirs=1"], ["--cut-dirs", "1"]),
      (["-N", "-x"], ["--layout", "url"]),
    ]
  )
  func sameNames(_ theirs: [String], _ ownOptions: [String]) throws {
    try Wget.run(theirs + ["-i", "urls.txt"], into: "wget", of: ground.home)
    let run = try ground.home.run(ground.arguments(["urls.txt", "dir"] + ownOptions))
    #expect(run.status == 0, "\(run)")
    #expect(ground.files() == ground.files("wget"))
  }
}
