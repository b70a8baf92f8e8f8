import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Synchronization
import Testing

/// One row played in one situation against the program, with everything that must hold afterwards.
struct Rehearsal {
  /// Far above what a run needs and far below what endless answers would bring.
  private static let memoryLimit = 96 << 20
  private static let diskLimit = 16 << 20

  private let row: Row
  private let situation: Situation
  private let stage: Stage
  private let server: LoopbackServer
  private let home: Home

  init(_ row: Row, _ situation: Situation) throws {
    self.row = row
    self.situation = situation
    let stage = Stage(row, situation)
    self.stage = stage
    server = try LoopbackServer { stage.answer($0) }
    home = try Home(isInMemory: true)
  }

  private var body: [UInt8] {
    row.body ?? Scene.body(situation)
  }

  func play() throws {
    try prepare()
    let verdict = try #require(row.verdicts[situation])
    let before = server.requests.count
    let run = try start(["--json", "--items", "all"]).finish(within: 15)
    let requests = server.requests.dropFirst(before)
    #expect(!run.isOverdue, "\(run)")
    #expect(verdict.exits.contains(run.status), "\(run)")
    let report = try run.json()
    #expect(report.number("exit.code") == Int(run.status))
    let word = report.text("items.0.error.code") ?? report.text("items.0.outcome") ?? "none"
    #expect(verdict.words.contains(word), "\(report.text("items.0.error.message") ?? "no error")")
    #expect(run.peakMemory < Self.memoryLimit)
    if let count = verdict.requests {
      #expect(requests.count == count, "\(requests.map(\.headers))")
    }
    checkStore(verdict, report)
    let verify = try home.run("verify")
    #expect(verify.status == 0, "\(verify)")
  }

  // MARK: Before

  private func configure(item: String, segment: String) {
    let item = item.replacing("NEW", with: Digest.hexadecimal(body))
      .replacing("SIZE", with: String(body.count))
    home.configure(
      """
      name: matrix
      segments:
        - name: basics
          urls: [{ url: "\(server.address(row.path))", \(item) }]
          \(segment)
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
      // What is declared and expected is the new body.
      configure(item: "", segment: "")
      let run = try home.run()
      try #require(run.status == 0, "\(run)")
    case .resume:
      configure(item: row.item, segment: row.segment)
      let run = try home.run("--set", "network.retries.items=0")
      try #require(run.status == 69, "\(run)")
    }
    configure(item: row.item, segment: row.segment)
    stage.begin()
  }

  /// No file may outgrow what the configuration allows by much, and no memory be taken endlessly.
  private func start(_ arguments: [String]) throws -> RunningProgram {
    let binary = try #require(Binary.path)
    let limiter = try #require(Tool("prlimit"))
    return try RunningProgram(
      limiter.path,
      ["--data=\(1 << 29)", "--fsize=\(Self.diskLimit)", binary] + arguments,
      environment: home.variables,
      folder: home.work
    )
  }

  // MARK: Afterwards

  private func checkStore(_ verdict: Verdict, _ report: Node) {
    let stored = verdict.stored(in: situation, new: body)
    let digest = stored.map { Digest.hexadecimal($0) }
    #expect(report.text("items.0.digest") == digest.map { "sha256:\($0)" })
    let objects = FileTree.objects(home.cache)
    // What was replaced may stay for a while as an orphan.
    let allowed = Set([digest, situation == .update ? Digest.hexadecimal(Scene.old) : nil])
    #expect(Set(objects.keys).isSubset(of: allowed.compactMap(\.self)))
    if let digest, let stored {
      let path = "\(home.cache)/objects/sha256/\(digest.prefix(2))/\(digest)"
      // Comparing outside keeps a difference of megabytes out of the log.
      let isSame = FileTree.read(path) == stored
      #expect(isSame)
    }
    let sizes = FileTree.listing(home.cache).mapValues(\.size)
    #expect(sizes.values.reduce(0, +) < Self.diskLimit)
    let partial = sizes.filter { $0.key.hasPrefix("\(home.cache)/partial/") }
    #expect(partial.values.reduce(0, +) <= Scene.body(situation).count + 65_536)
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

  func answer(_ request: LoopbackRequest) -> Script {
    let attempt = attempts.withLock { attempts -> Int? in
      attempts = attempts.map { $0 + 1 }
      return attempts
    }
    var scene = Scene(situation: situation, request: request, attempt: attempt ?? 1)
    guard attempt == nil else { return row.behaviour(scene) }
    guard situation == .resume else { return Scene.oldAnswer(to: request) }
    scene.attempt = 0
    return row.interrupted?(scene) ?? scene.cut(at: scene.body.count / 2, then: .close)
  }
}
