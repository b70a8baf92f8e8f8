import PrefetchCore
import PrefetchCrypto
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Plays the rows of a batch as items of one run, and checks all invariants afterwards.
final class MatrixRun {
  /// Limits far above a run's needs and far below what endless responses would take.
  private static let memoryLimit = 96 << 20
  private static let diskLimit = 16 << 20
  /// Exit statuses of runs that neither usage, configuration nor a signal ended.
  private static let documentedExits: Set<Int32> = [0, 3, 4, 5, 69, 75, 77]
  /// Most requests for one item: all redirects in all attempts, and some more.
  private static let mostRequests = 40

  /// A row with its server.
  private struct ServedRow {
    var row: Row
    var stage: Stage
    var server: MatrixServer
    var url: String
  }

  private let situation: Situation
  private let transport: Transport
  private let servedRows: [ServedRow]
  private let home: Home
  /// The good origin in front of which a row is the second tier; or an empty second tier.
  private let other: LoopbackServer?
  /// Whether a later run is checked, for which the servers behave well.
  private let recovers: Bool
  private var problems: [String] = []
  /// Names of the rows with a problem.
  private var failed: Set<String> = []

  private static let pinned = "/pinned.bin"
  private static let loose = "/loose.bin"

  init(_ batch: MatrixBatch, recovers: Bool) throws {
    let (situation, transport) = (batch.situation, batch.transport)
    self.situation = situation
    self.transport = transport
    self.recovers = recovers
    servedRows = try batch.rows.enumerated().map { number, row in
      let stage = Stage(row, situation, transport)
      let server = try MatrixServer(transport) { stage.respond($0) }
      let path = situation == .registry ? Self.packagePath(number, batch.rows) : row.path
      return ServedRow(row: row, stage: stage, server: server, url: server.base + path)
    }
    home = try Home(isInMemory: true)
    switch situation {
    case .tier:
      let page = Site.Page(Scene.body(situation), entityTag: Scene.tag)
      let site = Site([Self.pinned: page, Self.loose: page])
      other = try LoopbackServer { site.respond(to: $0) }
    case .behind:
      other = try LoopbackServer { _ in .respond(404) }
    case .first, .update, .resume, .registry, .ranges:
      other = nil
    }
  }

  /// Plays the batch and records it.
  func play(for figures: Figures) throws {
    defer {
      #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
      let names = servedRows.map(\.row.testDescription)
      let count = problems.isEmpty ? 0 : max(1, failed.count)
      figures.record(tried: names.count, failed: count, kinds: names)
    }
    try prepare()
    let before = servedRows.map(\.server.requests.count)
    let run = try start(["--json", "--items", "all"]).finish(within: 30, watchingMemory: true)
    guard !run.isOverdue, !run.output.isEmpty else {
      return check(false, "\(run.isOverdue ? "overdue" : "no report"), \(brief(run))")
    }
    let report = try run.json()
    check(report.number("exit.code") == Int(run.status), "exit.code: \(run)")
    check(run.peakMemory < memoryLimit || Binary.isSanitized, "\(run.peakMemory) bytes of memory")
    for (served, before) in zip(servedRows, before) {
      checkItem(served, run, report, served.server.requests.dropFirst(before))
    }
    if situation == .tier { checkTier(run, report) }
    checkStore()
    try checkVerified()
    // An empty body replaces no other, however often it is served.
    let isRefused = situation == .update && servedRows.contains { $0.stage.body.isEmpty }
    if recovers, !isRefused { try checkRecovery() }
  }

  private func brief(_ run: ProgramRun) -> String {
    "\(run.status), \(run.errors.prefix(1_000))"
  }

  private var memoryLimit: Int {
    // A body of many ranges is mapped, and the memory of a mapped file counts.
    Self.memoryLimit + (situation == .ranges ? servedRows.count << 26 : 0)
  }

  private func check(_ isRight: Bool, _ problem: @autoclosure () -> String, of row: Row? = nil) {
    guard !isRight else { return }
    let name = row?.testDescription ?? "all"
    if let row { failed.insert(row.testDescription) }
    problems.append("\(situation) over \(transport), \(name): \(problem())")
  }

  // MARK: An item

  private func checkItem(
    _ served: ServedRow,
    _ run: ProgramRun,
    _ report: Node,
    _ requests: ArraySlice<LoopbackRequest>
  ) {
    let row = served.row
    check(requests.count <= Self.mostRequests, "\(requests.count) requests", of: row)
    if situation == .ranges {
      let ranges = requests.filter { $0.headers["Range"] != nil }
      check(!ranges.isEmpty, "no range was requested", of: row)
    }
    guard situation != .tier else { return }
    let item = servedRows.count == 1 ? report.at("items.0") : report.item(served.url)
    let digest = item?.text("digest")
    if let verdict = row.verdict(in: situation, over: transport) {
      check(verdict.exits.contains(run.status), "\(verdict.exits), not \(brief(run))", of: row)
      let word = item?.text("error.code") ?? item?.text("outcome") ?? "none"
      let message = item?.text("error.message") ?? "no error"
      check(verdict.words.contains(word), "\(verdict.words), not \(word): \(message)", of: row)
      if let count = verdict.requests, transport != .http2 {
        check(
          requests.count == count,
          "\(requests.count) requests, not \(count): \(requests.map(\.headers))",
          of: row
        )
      }
      let stored = Verdict.stored(after: word, in: situation, new: served.stage.body)
      check(digest == stored.map(Self.name), "the digest \(digest ?? "none")", of: row)
    } else {
      checkInvariants(row, item, run, served.stage.digest)
    }
    checkBody(digest, row)
  }

  /// Checks what holds for a row without a written outcome.
  private func checkInvariants(_ row: Row, _ item: Node?, _ run: ProgramRun, _ new: String) {
    let digest = item?.text("digest")
    let isStored = digest == "sha256:\(new)"
    let old = situation == .update ? Self.name(Scene.old) : nil
    check(isStored || digest == old, "the digest \(digest ?? "none")", of: row)
    check(Self.documentedExits.contains(run.status), "\(brief(run))", of: row)
    let hasFailed = item?.text("error.code") != nil || item?.text("outcome") == "deferred"
    check(isStored || hasFailed || digest != nil, "no outcome: \(brief(run))", of: row)
    check(run.status != 0 || !hasFailed, "a failure that is none: \(brief(run))", of: row)
    let mustBeStored =
      switch situation {
      // A good server sends the whole, whatever it thinks of ranges.
      case .ranges:
        row.isBehaviourAlone && !row.isCodedUnasked && row.verdicts[.first]?.isGoodAtOnce == true
      case .registry: row.isGoodInRegistry(over: transport)
      case .first, .update, .resume, .behind, .tier: false
      }
    check(isStored || !mustBeStored, "not stored: \(brief(run))", of: row)
    // Large bodies share their run with rows that fail.
    check(run.status == 0 || !mustBeStored || situation == .ranges, "\(brief(run))", of: row)
  }

  /// Checks that a reported body can be read, and is the body of its digest.
  private func checkBody(_ digest: String?, _ row: Row) {
    // Hashing many large bodies once more than `verify` does would take minutes.
    guard situation != .ranges, let name = digest?.dropFirst("sha256:".count) else { return }
    let bytes = FileTree.read("\(home.cache)/objects/sha256/\(name.prefix(2))/\(name)")
    check(bytes.map(Self.name) == digest, "the object \(name) holds something else", of: row)
  }

  /// Checks that a good origin supplies what a misbehaving second tier does not.
  private func checkTier(_ run: ProgramRun, _ report: Node) {
    let row = servedRows[0].row
    check(run.status == 0, "\(brief(run))", of: row)
    for path in [Self.pinned, Self.loose] {
      let item = report.item("http://127.0.0.1:\(other?.port ?? 0)\(path)")
      let digest = item?.text("digest")
      check(digest == Self.name(Scene.body(.tier)), "\(path): \(brief(run))", of: row)
      checkBody(digest, row)
    }
    let hits = report.number("remote.hits")
    let isGood = row.testDescription == "200"
    check(!isGood || hits == 1, "\(hits ?? -1) hits of a good tier", of: row)
    check(!servedRows[0].server.requests.isEmpty, "the tier was not asked", of: row)
  }

  private static func name(_ body: [UInt8]) -> String {
    "sha256:\(Digest.hexadecimal(body))"
  }

  // MARK: Configuration

  /// Configures the run; all rows share the first one's settings, except where servers behave.
  private func configure(hasKeys: Bool, isRecovery: Bool = false) throws {
    let row = servedRows[0].row
    let hasItems = hasKeys && [.first, .update, .resume, .behind].contains(situation)
    let isLarge = situation == .ranges
    let authorities = try TrustGround.shared.get().authorities
    home.configure(
      """
      name: matrix
      segments:
        - name: basics
          \(source(hasKeys: hasItems))
          \(hasItems ? row.segment : "")
      network:
        retries: { \(row.retries), delay: 1ms, max_delay: 2ms, wait: 3s }
        timeouts: { \(isRecovery ? "" : isLarge ? "read: 3s" : row.timeouts) }
        \(isLarge ? "concurrency: 32\n  per_host: 16" : "")
      cache: { max_file_size: \(isLarge ? "1GiB" : row.largest), min_free: 0\(remote) }
      tls: { ca_file: "\(authorities)" }
      \(isRecovery ? "" : row.settings)
      """
    )
  }

  private var remote: String {
    switch situation {
    case .tier: ", remote: { url: \"\(servedRows[0].server.base)/t\", trust: true, timeout: 500ms }"
    case .behind: ", remote: { url: \"\(other?.address("/t") ?? "")\", trust: true, timeout: 5s }"
    case .first, .update, .resume, .registry, .ranges: ""
    }
  }

  private func source(hasKeys: Bool) -> String {
    switch situation {
    case .tier:
      let digest = Digest.hexadecimal(Scene.body(situation))
      let pinned = "{ url: \"\(other?.address(Self.pinned) ?? "")\", sha256: \(digest) }"
      return "urls: [\(pinned), \"\(other?.address(Self.loose) ?? "")\"]"
    case .registry:
      return "manifest: ./\(writeLock())"
    case .first, .update, .resume, .behind, .ranges:
      let items = servedRows.map { served in
        let body = served.stage.body
        let keys =
          hasKeys
          ? served.row.item.replacing("NEW", with: Digest.hexadecimal(body))
            .replacing("SIZE", with: String(body.count)) : ""
        return "{ url: \"\(served.url)\", \(keys) }"
      }
      return "urls: [\(items.joined(separator: ", "))]"
    }
  }

  // MARK: Packages

  /// Whether the packages of a batch are npm's or Python's.
  private static func isOfNpm(_ rows: [Row]) -> Bool {
    rows[0].testDescription.utf8.count.isMultiple(of: 2)
  }

  private static func packagePath(_ number: Int, _ rows: [Row]) -> String {
    isOfNpm(rows) ? "/p\(number)/-/p\(number)-1.0.0.tgz" : "/p\(number)-1.0-py3-none-any.whl"
  }

  /// Writes a lock file that names all packages and their digests; returns its name.
  private func writeLock() -> String {
    guard Self.isOfNpm(servedRows.map(\.row)) else {
      let packages = servedRows.enumerated().map { number, served in
        """
        [[package]]
        name = "p\(number)"
        version = "1.0"
        source = { registry = "https://pypi.org/simple" }
        wheels = [
          { url = "\(served.url)", hash = "sha256:\(Digest.hexadecimal(served.stage.body))" },
        ]

        """
      }
      let head = "version = 1\nrequires-python = \">=3.12\"\n\n"
      home.write(head + packages.joined(separator: "\n"), to: "uv.lock")
      return "uv.lock"
    }
    let packages = servedRows.enumerated().map { number, served in
      let digest = Base64.encode(SHA256.digest(of: served.stage.body).bytes)
      return """
        "node_modules/p\(number)": {
          "version": "1.0.0", "resolved": "\(served.url)", "integrity": "sha256-\(digest)"
        }
        """
    }
    home.write(
      #"{"lockfileVersion": 3, "packages": {\#(packages.joined(separator: ",\n"))}}"#,
      to: "package-lock.json"
    )
    return "package-lock.json"
  }

  // MARK: Before

  private func prepare() throws {
    switch situation {
    case .first, .behind, .tier, .registry, .ranges:
      break
    case .update:
      // The declaration already describes the new body.
      try configure(hasKeys: false)
      let run = try home.run()
      try #require(run.status == 0, "\(run)")
    case .resume:
      try configure(hasKeys: true)
      let run = try home.run("--set", "network.retries.items=0")
      try #require(run.status == 69, "\(run)")
    }
    try configure(hasKeys: true)
    for served in servedRows { served.stage.begin() }
  }

  /// Starts the program with limits on file sizes and memory.
  private func start(_ arguments: [String]) throws -> RunningProgram {
    let program = try home.start(arguments)
    let disk = situation == .ranges ? 1 << 30 : Self.diskLimit
    try program.limit(memory: Binary.isSanitized ? .max : 1 << 29, file: disk)
    return program
  }

  // MARK: Afterwards

  private func checkStore() {
    var allowed: Set<String> = []
    // A replaced body may remain as an orphan for a while.
    if situation == .update { allowed.insert(Digest.hexadecimal(Scene.old)) }
    for served in servedRows { allowed.insert(served.stage.digest) }
    let objects = Set(FileTree.objects(home.cache).keys)
    check(objects.isSubset(of: allowed), "the objects \(objects)")
    let sizes = FileTree.listing(home.cache).mapValues(\.size)
    let partial = sizes.filter { $0.key.hasPrefix("\(home.cache)/partial/") }
    let kept = partial.values.reduce(0, +)
    let most = servedRows.count * (Scene.body(situation).count + 65_536)
    check(kept <= most, "parts of \(kept) bytes")
    let stored = sizes.values.reduce(0, +) - kept
    let limit = Self.diskLimit + (situation == .ranges ? servedRows.count << 26 : 0)
    check(stored < limit, "\(stored) bytes in the cache")
  }

  private func checkVerified() throws {
    let verify = try home.run("verify")
    check(verify.status == 0, "verify: \(verify)")
  }

  /// Checks that nothing of the behavior outlives it.
  private func checkRecovery() throws {
    try configure(hasKeys: false, isRecovery: true)
    for served in servedRows { served.stage.recover() }
    let run = try home.run("--json", "--items", "all")
    let isClosed = run.status == 75 && servedRows.contains { $0.row.isGate }
    check(run.status == 0 || isClosed, "the next run: \(brief(run))")
    let report = try run.json()
    for served in servedRows where situation != .tier && !isClosed {
      let item = servedRows.count == 1 ? report.at("items.0") : report.item(served.url)
      let digest = item?.text("digest")
      let isRight = digest == "sha256:\(served.stage.digest)"
      check(isRight, "the next run: \(brief(run))", of: served.row)
      checkBody(digest, served.row)
    }
    let parts = FileTree.names("\(home.cache)/partial")
    check(parts.isEmpty || isClosed, "parts after the next run: \(parts)")
    try checkVerified()
  }
}

extension Node {
  /// The item of a URL in a report.
  fileprivate func item(_ url: String) -> Node? {
    list("items").first { $0.text("url") == url }
  }
}
