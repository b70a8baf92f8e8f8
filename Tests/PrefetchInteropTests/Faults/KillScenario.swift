@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A command that is killed, and its preparation.
enum KillScenario: String, CaseIterable, Sendable {
  case firstRun, update, resume, publish, mirror, get, gc, repair, export, subscribe
}

/// A user and a server for one scenario.
struct KillGround {
  private static let names = (0..<8).map { "f\($0).txt" }
  private static let large = "large/film.bin"

  let scenario: KillScenario
  let home: Home
  private let site = Site()
  private let trap: KillTrap
  private let server: LoopbackServer

  init(_ scenario: KillScenario) throws {
    self.scenario = scenario
    home = try Home(isInMemory: true)
    let trap = KillTrap(site)
    self.trap = trap
    server = try LoopbackServer { trap.respond(to: $0) }
    for name in Self.names + [Self.large] { publish(name, version: 0) }
    publishLists()
    configure()
  }

  // MARK: The server

  private func body(_ name: String, _ version: Int) -> [UInt8] {
    let line = "\(name) version \(version)\n"
    let size = name == Self.large ? 1_500_000 : 3_000
    return Array(String(repeating: line, count: size / line.utf8.count).utf8)
  }

  private func publish(_ name: String, version: Int) {
    let body = body(name, version)
    site["/\(name)"] = Site.Page(
      body,
      entityTag: "\"\(Digest.hexadecimal(body).prefix(12))\"",
      headers: [HeaderField("Cache-Control", "no-cache")]
    )
  }

  private func digest(_ name: String) -> String {
    Digest.hexadecimal(site["/\(name)"]?.body ?? [])
  }

  /// Half of the items of the list are named by their digests.
  private func publishLists() {
    let entries = (Self.names + [Self.large]).enumerated().map { index, name in
      Manifest.Entry(name, digest: index.isMultiple(of: 2) ? digest(name) : nil)
    }
    site["/manifest.json"] = Site.Page(Manifest.text(entries))
    let sums = Self.names.map { "\(digest($0))  \($0)\n" }.joined()
    site["/SHA256SUMS"] = Site.Page(sums)
  }

  // MARK: The user

  private func configure(tree: Bool = false, size: String? = nil) {
    let isRemembered = scenario == .subscribe
    home.configure(
      """
      name: killed
      \(isRemembered ? "subscriptions: remembered" : "")
      network: { retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0\(size.map { ", size: \($0)" } ?? "") }
      segments:
        - name: basics
          manifest: \(server.address("/manifest.json"))
          \(tree ? "publish: { dir: tree, layout: url, link: copy }" : "")
        - { name: more, urls: ["\(server.address("/\(Self.names[0])"))", "\(server.address("/\(Self.names[1])"))"] }
      """
    )
  }

  private func change() {
    for name in Self.names.prefix(4) + [Self.large] { publish(name, version: 1) }
    publishLists()
  }

  var arguments: [String] {
    switch scenario {
    case .firstRun, .update, .resume: ["run", "-q"]
    case .publish: ["publish", "-q"]
    case .mirror:
      [
        "mirror", "-q", server.address("/SHA256SUMS"), "dir", "--set",
        "transport_security.NSAllowsLocalNetworking=true", "--set", "cache.min_free=0",
      ]
    case .get: ["get", "-o", "out", server.address("/\(Self.large)")]
    case .gc: ["gc", "-q"]
    case .repair: ["verify", "--repair", "-q"]
    case .export: ["export", "copy"]
    case .subscribe: ["subscribe", "more", "-q"]
    }
  }

  /// Prepares the store and its surroundings before the command.
  func prepare() throws {
    switch scenario {
    case .firstRun: break
    case .update:
      try settle(["run", "-q"])
      change()
    case .resume: try breakOff()
    case .publish:
      try settle(["run", "-q"])
      configure(tree: true)
    case .mirror:
      try settle(arguments)
      change()
    case .get: home.write("the old file", to: "out")
    case .gc:
      try settle(["run", "-q"])
      configure(size: "1.2MB")
    case .repair:
      try settle(["run", "-q"])
      try damage()
    case .export: try settle(["run", "-q"])
    case .subscribe:
      // The first run joins both.
      try settle(["run", "-q"])
      try settle(["unsubscribe", "more", "-q"])
    }
  }

  private func settle(_ arguments: [String]) throws {
    let run = try home.run(arguments)
    try #require(run.status == 0, "\(scenario): \(arguments): \(run)")
  }

  private func breakOff() throws {
    trap.set(.bytes(900_000, below: "/large/"))
    let run = try home.start(["run", "-q"])
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end, !hasPart { poll(nil, 0, 2) }
    try #require(hasPart)
    run.signal(SIGKILL)
    _ = run.finish()
    trap.set(nil)
  }

  private var hasPart: Bool {
    FileTree.listing("\(home.cache)/partial").contains {
      $0.key.hasSuffix(".body") && $0.value.size > 500_000
    }
  }

  private var damaged: String { digest(Self.names[2]) }

  private func damage() throws {
    let path = "\(home.cache)/objects/sha256/\(damaged.prefix(2))/\(damaged)"
    let done = try home.shell("chmod u+w '\(path)' && printf x | dd of='\(path)' conv=notrunc")
    try #require(done.status == 0, "\(done)")
  }

  // MARK: What has to hold

  private var cache: String {
    scenario == .mirror ? home.path("dir/.prefetch/cache") : home.cache
  }

  /// Returns the digests of the items that the cache lists, by path.
  func held() throws -> [String: String] {
    guard FileTree.exists(home.cache) else { return [:] }
    var held: [String: String] = [:]
    for item in try home.run("list", "--json").json().list("items") {
      guard let url = item.text("url"), let digest = item.text("digest") else { continue }
      let name = String(url.dropFirst(server.address("/").count))
      guard name != "manifest.json" else { continue }
      held[name] = String(digest.dropFirst("sha256:".count))
    }
    return held
  }

  /// Right after the kill: nothing good is lost and nothing wrong is shown.
  func checkKilled(_ before: [String: String], _ context: String) throws {
    let held = try held()
    if scenario != .gc {
      for (name, digest) in before where scenario != .repair || digest != damaged {
        let isHere = held[name] == digest || held[name] == self.digest(name)
        #expect(isHere, "\(context): \(name) is \(held[name] ?? "lost")")
      }
    }
    if FileTree.exists(home.cache) {
      let verify = try home.run("verify")
      #expect(
        verify.status == 0 || scenario == .repair || namesOnlyMissingFiles(verify),
        "\(context): \(verify)"
      )
      let gotten = held.keys.sorted().first { held[$0] != damaged || scenario != .repair }
      if let gotten {
        let run = try home.run("get", "--offline", "-o", "read", server.address("/\(gotten)"))
        let body = FileTree.read(home.path("read")) ?? []
        #expect(run.status == 0 && Digest.hexadecimal(body) == held[gotten], "\(context): \(run)")
      }
    }
    for (name, body) in files(home.path(scenario == .mirror ? "dir" : "tree")) {
      #expect((0...1).contains { self.body(name, $0) == body }, "\(context): \(name) is no version")
    }
    if scenario == .get {
      let body = FileTree.read(home.path("out")) ?? []
      let isWhole = body == Array("the old file".utf8) || body == self.body(Self.large, 0)
      #expect(isWhole, "\(context): out has \(body.count) bytes")
    }
  }

  /// Whether `verify` names files of the tree alone that were not linked before the kill.
  private func namesOnlyMissingFiles(_ verify: ProgramRun) -> Bool {
    let lines = verify.errors.split(separator: "\n")
    return scenario == .publish && verify.status == 74 && !lines.isEmpty
      && lines.allSatisfy { line in
        let words = line.split(separator: "`", omittingEmptySubsequences: false)
        return line.hasSuffix("[publish.missing]") && words.count > 1
          && !FileTree.exists(String(words[1]))
      }
  }

  /// Repeats the command and runs once more: everything must be right and nothing left over.
  func checkNext(_ context: String) throws {
    let next = try home.run(arguments)
    #expect(
      next.status == 0 || scenario == .repair && next.status == 74,
      "\(context): then \(next)"
    )
    switch scenario {
    case .firstRun, .update, .resume, .publish, .repair, .subscribe:
      let run = try home.run("run", "-q")
      #expect(run.status == 0, "\(context): then \(run)")
      let wanted = Dictionary(
        uniqueKeysWithValues: (Self.names + [Self.large]).map { ($0, digest($0)) }
      )
      #expect(try held() == wanted, "\(context)")
    case .get:
      #expect(FileTree.read(home.path("out")) == body(Self.large, 0), "\(context)")
    case .export:
      let objects = FileTree.objects(home.path("copy"))
      #expect(Set(objects.keys) == Set(FileTree.objects(home.cache).keys), "\(context)")
    case .mirror:
      let wanted = Dictionary(
        uniqueKeysWithValues: Self.names.map { ($0, site["/\($0)"]?.body ?? []) }
      )
      #expect(files(home.path("dir")) == wanted, "\(context)")
    case .gc: break
    }
    if scenario == .publish {
      let wanted = Set((Self.names + [Self.large]).map { site["/\($0)"]?.body ?? [] })
      #expect(Set(files(home.path("tree")).values) == wanted, "\(context)")
    }
    if scenario != .mirror {
      let verify = try home.run("verify")
      #expect(verify.status == 0, "\(context): \(verify)")
    }
    checkLeftovers(context)
  }

  private func checkLeftovers(_ context: String) {
    let roots = [home.cache, home.state, home.work]
    let names = roots.flatMap { FileTree.listing($0).keys }.filter { path in
      let name = path.split(separator: "/").last ?? ""
      return name.contains(".new-") || name.contains(".tmp") || name.contains(".draft")
        || name.contains(".damaged")
    }
    #expect(names.isEmpty, "\(context) leaves files")
    if FileTree.exists("\(home.cache)/partial"), scenario != .export, scenario != .gc {
      #expect(FileTree.names("\(home.cache)/partial").isEmpty, "\(context) leaves parts")
    }
  }

  /// Returns a tree's bodies by file name, with the folder for the large one.
  private func files(_ folder: String) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for (path, facts) in FileTree.listing(folder) where facts.mode & S_IFMT == S_IFREG {
      guard !path.contains("/.prefetch") else { continue }
      let parts = path.split(separator: "/")
      let name = parts.suffix(parts.dropLast().last == "large" ? 2 : 1).joined(separator: "/")
      // Drafts of a killed process begin with a dot; they are no file of the tree yet.
      guard parts.last?.hasPrefix(".") == false else { continue }
      files[name] = FileTree.read(path)
    }
    return files
  }
}
