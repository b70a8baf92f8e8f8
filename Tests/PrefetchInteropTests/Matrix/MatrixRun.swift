import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

/// Plays rows of one situation as items of one run, and checks all invariants afterwards.
struct MatrixRun {
  /// Limits far above a run's needs and far below what endless responses would take.
  private static let memoryLimit = 96 << 20
  private static let diskLimit = 16 << 20

  /// A row with its server.
  private struct ServedRow {
    var row: Row
    var stage: Stage
    var server: LoopbackServer

    init(_ row: Row, _ situation: Situation) throws {
      let stage = Stage(row, situation)
      self.row = row
      self.stage = stage
      server = try LoopbackServer { stage.respond($0) }
    }

    var url: String {
      server.address(row.path)
    }
  }

  private let situation: Situation
  private let servedRows: [ServedRow]
  private let home: Home

  init(_ batch: MatrixBatch) throws {
    situation = batch.situation
    servedRows = try batch.rows.map { try ServedRow($0, batch.situation) }
    home = try Home(isInMemory: true)
  }

  private func body(_ row: Row) -> [UInt8] {
    row.body ?? Scene.body(situation)
  }

  func play() throws {
    try prepare()
    let before = servedRows.map(\.server.requests.count)
    let run = try start(["--json", "--items", "all"]).finish(within: 15, watchingMemory: true)
    #expect(!run.isOverdue, "\(run)")
    let report = try run.json()
    #expect(report.number("exit.code") == Int(run.status))
    #expect(run.peakMemory < Self.memoryLimit || Binary.isSanitized)
    for (served, before) in zip(servedRows, before) {
      try check(served, run, report, served.server.requests.dropFirst(before))
    }
    checkStore()
    let verify = try home.run("verify")
    #expect(verify.status == 0, "\(verify)")
  }

  private func check(
    _ served: ServedRow,
    _ run: ProgramRun,
    _ report: Node,
    _ requests: ArraySlice<LoopbackRequest>
  ) throws {
    let name = served.row.testDescription
    let verdict = try #require(served.row.verdicts[situation])
    #expect(verdict.exits.contains(run.status), "\(name): \(run)")
    let item = servedRows.count == 1 ? report.at("items.0") : report.item(served.url)
    let word = item?.text("error.code") ?? item?.text("outcome") ?? "none"
    let said = item?.text("error.message") ?? "no error"
    #expect(verdict.words.contains(word), "\(name): \(said)")
    if let count = verdict.requests {
      #expect(requests.count == count, "\(name): \(requests.map(\.headers))")
    }
    let stored = verdict.stored(in: situation, new: body(served.row))
    let digest = stored.map { Digest.hexadecimal($0) }
    #expect(item?.text("digest") == digest.map { "sha256:\($0)" }, "\(name)")
    guard let digest, let stored else { return }
    let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
    // Comparing outside keeps a difference of megabytes out of the log.
    let isSame = FileTree.read(path) == stored
    #expect(isSame, "\(name)")
  }

  // MARK: Before

  /// Configures the run; all rows share the first one's settings.
  private func configure(hasKeys: Bool) {
    let row = servedRows[0].row
    let items = servedRows.map { served in
      let body = body(served.row)
      let keys = served.row.item.replacing("NEW", with: Digest.hexadecimal(body))
        .replacing("SIZE", with: String(body.count))
      return "{ url: \"\(served.url)\", \(hasKeys ? keys : "") }"
    }
    home.configure(
      """
      name: matrix
      segments:
        - name: basics
          urls: [\(items.joined(separator: ", "))]
          \(hasKeys ? row.segment : "")
      network:
        retries: { \(row.retries), delay: 1ms, max_delay: 2ms, wait: 3s }
        timeouts: { \(row.timeouts) }
      cache: { max_file_size: \(row.largest), min_free: 0 }
      \(row.settings)
      """
    )
  }

  private func prepare() throws {
    switch situation {
    case .first:
      break
    case .update:
      // The declaration already describes the new body.
      configure(hasKeys: false)
      let run = try home.run()
      try #require(run.status == 0, "\(run)")
    case .resume:
      configure(hasKeys: true)
      let run = try home.run("--set", "network.retries.items=0")
      try #require(run.status == 69, "\(run)")
    }
    configure(hasKeys: true)
    for served in servedRows { served.stage.begin() }
  }

  /// Starts the program with limits on file sizes and memory.
  private func start(_ arguments: [String]) throws -> RunningProgram {
    let program = try home.start(arguments)
    try program.limit(memory: Binary.isSanitized ? .max : 1 << 29, file: Self.diskLimit)
    return program
  }

  // MARK: Afterwards

  private func checkStore() {
    var allowed: Set<String> = []
    // A replaced body may remain as an orphan for a while.
    if situation == .update { allowed.insert(Digest.hexadecimal(Scene.old)) }
    for served in servedRows {
      let stored = served.row.verdicts[situation]?.stored(in: situation, new: body(served.row))
      if let stored { allowed.insert(Digest.hexadecimal(stored)) }
    }
    #expect(Set(FileTree.objects(home.cache).keys).isSubset(of: allowed))
    let sizes = FileTree.listing(home.cache).mapValues(\.size)
    let partial = sizes.filter { $0.key.hasPrefix("\(home.cache)/partial/") }
    let kept = partial.values.reduce(0, +)
    #expect(kept <= servedRows.count * (Scene.body(situation).count + 65_536))
    #expect(sizes.values.reduce(0, +) - kept < Self.diskLimit)
  }
}

extension Node {
  /// The item of a URL in a report.
  fileprivate func item(_ url: String) -> Node? {
    list("items").first { $0.text("url") == url }
  }
}

/// Plays the preparation until the behaviour begins.
private final class Stage: Sendable {
  private let row: Row
  private let situation: Situation
  /// Requests since the behaviour began; nil before.
  private let attempts: Mutex<Int?>

  init(_ row: Row, _ situation: Situation) {
    self.row = row
    self.situation = situation
    attempts = Mutex(nil)
  }

  func begin() {
    attempts.withLock { $0 = 0 }
  }

  func respond(_ request: LoopbackRequest) -> Script {
    let attempt = attempts.withLock { attempts -> Int? in
      attempts = attempts.map { $0 + 1 }
      return attempts
    }
    var scene = Scene(situation: situation, request: request, attempt: attempt ?? 1)
    guard attempt == nil else { return row.behaviour(scene) }
    guard situation == .resume else { return Scene.oldResponse(to: request) }
    scene.attempt = 0
    return row.interrupted?(scene) ?? scene.cut(at: scene.body.count / 2, then: .close)
  }
}
