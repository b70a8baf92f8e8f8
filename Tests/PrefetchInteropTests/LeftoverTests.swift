@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization
import Testing

@Suite("Leftovers of a killed process", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct LeftoverTests {
  private let home: Home
  private let server: LoopbackServer
  private let text = Mutexed("body")

  init() throws {
    home = try Home(isInMemory: true)
    server = try LoopbackServer { [text] request in
      .respond(200, [("Cache-Control", "no-cache")], text: "\(text.value) of \(request.path)")
    }
    home.configure(
      """
      cache: { min_free: 0 }
      report: { files: { json: "\(home.path("last.json"))" } }
      segments:
        - name: site
          urls: [\((1...20).map { "\"\(server.address("/\($0)"))\"" }.joined(separator: ", "))]
          publish: { dir: tree, layout: basename, link: copy }
      """
    )
    try #require(home.run("run", "-q").status == 0)
  }

  private func deadProcess() throws -> String {
    let line = try home.shell("sh -c 'echo $$'").lines.first
    return String(try #require(line))
  }

  @Test("Unfinished files beside a report, a delivered body and the databases are removed")
  func unfinishedFilesAreRemoved() throws {
    let dead = try deadProcess()
    let left = [
      home.path(".last.json.\(dead)-0"), home.path(".out.\(dead)-3"),
      // The number of a living process that did not make the file.
      home.path(".last.json.1-0"),
      "\(home.cache)/index.sqlite.new-\(dead)-abc",
      "\(home.cache)/index.sqlite.new-\(dead)-abc-wal",
      "\(home.state)/state.sqlite.new-\(dead)-abc",
      // The number of a living process that began at another time, as after a restart.
      "\(home.cache)/index.backup.sqlite.new-1.1000000000000-abc",
      "\(home.state)/state.sqlite.new-\(getpid()).1-abc",
    ]
    let others = [
      home.path(".last.json.bak"), home.path(".last.json.1-1"), home.path(".out.\(dead)-x"),
      "\(home.cache)/index.sqlite.new-\(getpid())-abc",
    ]
    for path in left + others { FileTree.write(Array("x".utf8), to: path) }
    let file = unsafe open(home.path(".last.json.1-1"), O_RDONLY)
    defer { close(file) }
    try #require(flock(file, LOCK_EX | LOCK_NB) == 0)
    #expect(try home.run("get", server.address("/1"), "-o", "out", "-q").status == 0)
    #expect(try home.run("run", "-q").status == 0)
    for path in left { #expect(!FileTree.exists(path), "\(path)") }
    for path in others { #expect(FileTree.exists(path), "\(path)") }
  }

  @Test(
    "A kill during the replacement of files leaves the tree's own files known to `verify`",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)"),
    arguments: ["renameat", "linkat"],
    [1, 5]
  )
  func ownFilesAreNotForeignAfterKill(_ call: String, _ moment: Int) throws {
    text.value = "other"
    let killed = try home.shell(
      """
      strace -f -qq -o /dev/null -P \(home.path("tree")) -e trace=\(call) \
      -e inject=\(call):signal=SIGKILL:when=\(moment) $prefetch run
      """
    )
    try #require(killed.status == 137, "\(killed)")
    let verify = try home.run("verify")
    #expect(!verify.errors.contains("publish.foreign"), "\(verify)")
    #expect(!verify.errors.contains("publish.changed"), "\(verify)")
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("verify", "-q").status == 0)
    #expect(FileTree.names(home.path("tree")).count == 20)
    #expect(home.read("tree/7") == "other of /7")
  }

  @Test(
    "A killed export is repeated into the same folder",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)")
  )
  func killedExportIsRepeated() throws {
    let killed = try home.shell(
      """
      strace -f -qq -o /dev/null -e trace=linkat -e inject=linkat:signal=SIGKILL:when=4 \
      $prefetch export copy
      """
    )
    try #require(killed.status == 137, "\(killed)")
    try #require(!FileTree.names(home.path("copy")).isEmpty)
    let again = try home.run("export", "copy")
    #expect(again.status == 0, "\(again)")
    #expect(!FileTree.names(home.path("copy")).contains { $0.hasPrefix("export.") })
    let verify = try home.run("verify", "--cache-dir", home.path("copy"))
    #expect(verify.status == 0 && verify.output.hasPrefix("20 objects checked"), "\(verify)")
    #expect(try home.run("export", "copy").status == 64, "a whole one is not overwritten")
    for name in ["mine", "mine/objects"] { FileTree.makeFolder(home.path(name)) }
    let mine = ["export.unfinished", "objects/a", "index.html"]
    for name in mine { home.write("mine", to: "mine/\(name)") }
    #expect(try home.run("export", "mine").status == 64)
    FileTree.remove(home.path("mine/index.html"))
    #expect(try home.run("export", "mine").status == 64)
    FileTree.makeFolder(home.path("alone"))
    home.write("mine", to: "alone/export.unfinished")
    #expect(try home.run("export", "alone").status == 64)
    #expect(home.read("alone/export.unfinished") == "mine")
    for name in mine.prefix(2) { #expect(home.read("mine/\(name)") == "mine") }
  }

  @Test(
    "An export continues in a folder whose mark a power cut left incomplete",
    arguments: ["", "prefetch is filling", String(repeating: "\0", count: 60)]
  )
  func exportAfterPowerCut(_ text: String) throws {
    FileTree.makeFolder(home.path("copy"))
    home.write(text, to: "copy/export.unfinished")
    let export = try home.run("export", "copy")
    #expect(export.status == 0, "\(export)")
    #expect(try home.run("verify", "--cache-dir", home.path("copy")).status == 0)
  }

  @Test(
    "The mark of an export and its name are on the disk before other files are made",
    .enabled(if: Tracing.isPossible, "\(Tracing.absence)")
  )
  func exportMarkIsDurable() throws {
    let traced = "strace -f -y -qq -o trace -e trace=fsync,mkdirat $prefetch export copy"
    try #require(home.shell(traced).status == 0)
    let calls = try #require(home.read("trace")).split(separator: "\n")
    let mark = calls.firstIndex { $0.contains("fsync") && $0.contains("export.unfinished>") }
    let name = calls.firstIndex { $0.contains("fsync") && $0.contains("/copy>") }
    let other = calls.firstIndex { $0.contains("mkdirat") && $0.contains("/copy") }
    let order = try [#require(mark), #require(name), #require(other)]
    #expect(order == order.sorted(), "\(calls)")
  }

  @Test("Lost items of `get` are forgotten after the index was lost")
  func missingBodiesAreForgotten() throws {
    let extra = server.address("/extra")
    #expect(try home.run("get", extra, "-o", "out", "-q").status == 0)
    FileTree.remove("\(home.cache)/index.backup.sqlite")
    #expect(try home.run("run", "-q").status == 0)
    #expect(try home.run("rm", extra, "-q").status == 0)
    FileTree.remove("\(home.cache)/index.sqlite")
    #expect(try home.run("run", "-q").status == 0)
    let verify = try home.run("verify")
    #expect(verify.status == 0, "\(verify)")
    #expect(try home.run("list").output.contains("/7"))
  }
}

/// A value that the test changes while its server reads it.
private final class Mutexed: Sendable {
  private let mutex: Mutex<String>

  init(_ value: String) {
    mutex = Mutex(value)
  }

  var value: String {
    get { mutex.withLock(\.self) }
    set { mutex.withLock { $0 = newValue } }
  }
}
