@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A disk that cannot be read",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Fault.library != nil, "\(Fault.absence)")
)
struct ReadFaultTests {
  private static let commands: [[String]] = [
    ["run", "-q"], ["verify", "--repair"], ["status"], ["list"], ["gc", "-q"],
  ]
  private static let reading = "read pread pread64"
  private static let opening = "open open64 openat openat64"
  private static let errors: [(name: String, number: CInt, calls: String)] = [
    ("EIO", EIO, reading), ("EIO", EIO, opening), ("EMFILE", EMFILE, opening),
    ("EACCES", EACCES, opening), ("ENOMEM", ENOMEM, opening),
  ]

  private let home: Home
  private let server: LoopbackServer

  init() throws {
    let site = Site(["/a": Site.Page("a"), "/b": Site.Page("b"), "/c": Site.Page("c")])
    server = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    home.configure(
      """
      name: unread
      subscriptions: remembered
      network: { retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0 }
      segments:
        - { name: one, initial: true, urls: ["\(server.address("/a"))"] }
        - { name: two, urls: ["\(server.address("/b"))", "\(server.address("/c"))"] }
      """
    )
  }

  @Test(
    "An I/O error at STATE, the index or a body removes nothing and sets nothing aside",
    arguments: Binary.seed.map { [Int($0)] } ?? Array(0..<Binary.rounds)
  )
  func unread(_ round: Int) throws {
    var random = SeededRandom(mixing: [round, 2])
    try #require(try home.run("run", "-q").status == 0)
    // Only the state records that this segment is subscribed.
    try #require(try home.run("subscribe", "two", "-q").status == 0)
    try #require(try home.run("event", "log", "seen").status == 0)
    let before = try held()
    let objects = Set(FileTree.objects(home.cache).keys)

    let command = Self.commands[round % Self.commands.count]
    let error = Self.errors[round / Self.commands.count % Self.errors.count]
    let path = ["state.sqlite", "index.sqlite", "objects/sha256"][
      Int.random(in: 0...2, using: &random)
    ]
    let fault = Fault(
      call: Int.random(in: 1...12, using: &random),
      kind: .error(error.number),
      span: random.happens(50) ? 1 : 1_000,
      calls: error.calls,
      path: path
    )
    let run = try fault.home(home).run(command)
    let context = """
      round \(round): \(command) with \(error.name) at \(error.calls) \(fault.call) of \(path), \
      \(fault.span) times: \(Fault.report(home)): \(run)
      """
    // A fault that the command can do without is no failure; any other is a disk failure.
    let isRepair = command.contains("--repair")
    #expect([0, 74].contains(run.status), "\(context)")
    let names = [home.cache, home.state].flatMap { FileTree.names($0) }
    #expect(!names.contains { $0.contains("damaged") }, "\(context): \(names)")
    #expect(try held() == before || isRepair && error.number == EIO, "\(context)")
    if error.number != EIO {
      #expect(Set(FileTree.objects(home.cache).keys).isSuperset(of: objects), "\(context)")
    }

    let next = try home.run("run", "-q")
    #expect(next.status == 0, "\(context)\nthen \(next)")
    #expect(try held() == before, "\(context)")
    #expect(try home.run("verify").status == 0, "\(context)")
    let events = try home.run("event", "list")
    #expect(events.output.contains("seen"), "\(context): \(events)")
    let segments = try home.run("status", "--json").json().list("segments").map { $0.text("name") }
    #expect(segments == ["one", "two"], "\(context)")
  }

  @Test("A body that cannot be read even after it was fetched again is an I/O error of `get`")
  func unreadable() throws {
    try #require(try home.run("run", "-q").status == 0)
    for call in 1...4 {
      let fault = Fault(
        call: call,
        kind: .error(EIO),
        span: 1_000,
        calls: Self.reading,
        path: "objects/sha256"
      )
      FileTree.remove(home.path("fault.log"))
      let run = try fault.home(home).run(["get", "-q", "-o", "out", server.address("/a")])
      guard Fault.report(home).contains("objects") else { return #expect(run.status == 0) }
      #expect(run.status == 74, "\(call): \(Fault.report(home)): \(run)")
      #expect(run.errors.contains("check the disk"), "\(call): \(run)")
    }
  }

  @Test("A draft of an index leaves no log where it cannot be locked as it closes")
  func draftLocks() throws {
    try #require(try home.run("run", "-q").status == 0)
    func export(failing call: Int) throws -> ProgramRun {
      let fault = Fault(
        call: call,
        kind: .error(EIO),
        calls: "fcntl fcntl64",
        path: "index.sqlite.new-"
      )
      return try fault.home(home).run(["export", "-q", "copy-\(call)"])
    }
    #expect(try export(failing: 0).status == 0)
    let count = try #require(Int(Fault.report(home)))
    for call in (count - 6)...count {
      let run = try export(failing: call)
      #expect(run.status == 0, "\(call): \(run)")
      let names = FileTree.names(home.path("copy-\(call)"))
      #expect(!names.contains { $0.contains(".new-") }, "\(call): \(run): \(names)")
    }
  }

  private func held() throws -> [String: String] {
    var held: [String: String] = [:]
    for item in try home.run("list", "--json").json().list("items") {
      if let url = item.text("url"), let digest = item.text("digest") { held[url] = digest }
    }
    return held
  }
}
