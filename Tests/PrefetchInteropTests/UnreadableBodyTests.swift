@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A stored body that cannot be read",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Tracing.isPossible, "\(Tracing.absence)")
)
struct UnreadableBodyTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { request in
      .respond(200, [("Cache-Control", "max-age=3600")], text: "body of \(request.path)")
    }
    home.configure(
      """
      cache: { min_free: 0 }
      segments:
        - name: site
          urls: ["\(server.address("/1"))", "\(server.address("/2"))", "\(server.address("/3"))"]
      """
    )
    try #require(home.run("run", "-q").status == 0)
  }

  private func path(_ body: String) -> String {
    let digest = Digest.hexadecimal(body)
    return "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
  }

  private var paths: [String] { (1...3).map { path("body of /\($0)") } }

  /// strace compares the names that a call is given, and the paths of the files that are open.
  private var names: [String] {
    paths + paths.map { String($0.split(separator: "/").last ?? "") }
  }

  @Test(
    "An object that cannot be opened is kept by `verify --repair`, which ends with 74",
    arguments: ["EMFILE", "ENOMEM", "EIO", "EACCES"],
    ["openat", "fstat,newfstatat"]
  )
  func bodyThatCannotBeOpenedIsKept(_ error: String, _ calls: String) throws {
    let before = FileTree.objects(home.cache)
    let run = try home.run("verify --repair", failing: calls, with: error, on: names)
    #expect(run.status == 74, "\(run)")
    #expect(run.output.contains("0 damaged"), "\(run)")
    #expect(run.errors.contains("store.unreadable"), "\(run)")
    #expect(FileTree.objects(home.cache) == before, "\(run)")
    let verify = try home.run("verify", "-q")
    #expect(verify.status == 0, "\(verify)")
  }

  @Test("Read errors of all objects change nothing")
  func readErrorsEverywhereChangeNothing() throws {
    let before = FileTree.objects(home.cache)
    let run = try home.run("verify --repair", failing: "pread64", with: "EIO", on: paths)
    #expect(run.status == 74, "\(run)")
    #expect(FileTree.objects(home.cache) == before, "\(run)")
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("One object with read errors is moved aside, not deleted, and the next run fetches it")
  func singleReadErrorMovesBodyAside() throws {
    let run = try home.run("verify --repair", failing: "pread64", with: "EIO", on: [paths[1]])
    #expect(run.status == 74, "\(run)")
    #expect(run.errors.contains("was moved to `\(home.cache)/partial/set-aside-"), "\(run)")
    #expect(!FileTree.exists(paths[1]))
    let aside = FileTree.names("\(home.cache)/partial").filter { $0.hasPrefix("set-aside-") }
    try #require(aside.count == 1)
    let bytes = FileTree.read("\(home.cache)/partial/\(aside[0])")
    #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == "body of /2")
    let next = try home.run("run", "--json").json()
    #expect(next.text("totals.fetched") == "1", "\(next)")
    #expect(FileTree.exists(paths[1]))
    #expect(FileTree.exists("\(home.cache)/partial/\(aside[0])"))
    #expect(try home.run("verify", "-q").status == 0)
  }

  @Test("A read error that does not recur is no damage")
  func passingReadErrorIsNoDamage() throws {
    let run = try home.run(
      "verify --repair",
      failing: "pread64",
      with: "EIO",
      on: [paths[1]],
      at: "1"
    )
    #expect(run.status == 0, "\(run)")
    #expect(FileTree.exists(paths[1]))
  }

  @Test("Bodies that `rm` removes while `verify --repair` reads are not reported as damaged")
  func removedBodiesAreNotDamaged() throws {
    let first = try #require(names.dropFirst(3).min())
    let urls = (1...3).map { server.address("/\($0)") }.joined(separator: " ")
    let script =
      "strace -f -q -o trace -P '\(first)' -e trace=openat"
      + " -e inject=openat:signal=SIGSTOP:when=1"
      + " sh -c 'echo $$ > verify.pid; exec $prefetch verify --repair' & "
      + "until grep -qs 'stopped by SIGSTOP' trace; do :; done; "
      + "$prefetch rm \(urls) >rm.out 2>&1; echo rm $?; "
      + "kill -CONT $(cat verify.pid); wait $!; echo verify $?"
    let run = try home.shell(script)
    #expect(run.output.contains("rm 0"), "\(run) \(home.read("rm.out") ?? "")")
    #expect(run.output.contains("verify 0"), "\(run)")
    #expect(!run.errors.contains("missing"), "\(run)")
  }
}
