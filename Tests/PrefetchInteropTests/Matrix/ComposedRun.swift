import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Plays composed replies as items of one run, and then a good server in their place.
final class ComposedRun {
  private static let count = 60
  /// All redirects of both attempts, and what libcurl repeats by itself.
  private static let mostRequests = 60 * 20

  private let replies: [ComposedReply]
  private let server: MatrixServer
  private let isMended = Guarded(false)
  private let home: Home
  private let context: String
  private var problems: [String] = []

  init(_ transport: Transport, round: Int) throws {
    let seed = Binary.sampleSeed
    let replies = (0..<Self.count).map { ComposedReply(seed: seed, number: round << 10 + $0) }
    self.replies = replies
    context = "seed \(seed), round \(round) over \(transport)"
    let attempts = Guarded<[String: Int]>([:])
    server = try MatrixServer(transport) { [isMended] request in
      let parts = request.path.split(separator: "/").compactMap { Int($0) }
      guard let number = parts.first, replies.indices.contains(number) else {
        return .respond(404)
      }
      let reply = replies[number]
      guard !isMended.withLock(\.self) else { return .respond(200, body: reply.body) }
      let attempt = attempts.withLock { attempts in
        attempts[request.path, default: 0] += 1
        return attempts[request.path, default: 1]
      }
      return reply.script(
        at: parts.count > 1 ? parts[1] : 0,
        attempt: attempt,
        acceptsGzip: request.headers["Accept-Encoding"]?.contains("gzip") ?? false
      )
    }
    home = try Home(isInMemory: true)
    let urls = replies.indices.map { "\"\(server.base)/\($0)/0\"" }.joined(separator: ", ")
    let authorities = try TrustGround.shared.get().authorities
    home.configure(
      """
      tls: { ca_file: "\(authorities)" }
      cache: { min_free: 0 }
      segments: [{ name: s, urls: [\(urls)] }]
      network:
        per_host: 2
        retries: { items: 1, delay: 1ms, max_delay: 2ms, wait: 1s }
        timeouts: { read: 300ms }
      """
    )
  }

  func play(for figures: Figures) throws {
    defer {
      figures.record(
        tried: replies.count,
        failed: min(replies.count, problems.count),
        kinds: replies.map(\.kind)
      )
    }
    let run = try home.start(["--json", "--items", "all"]).finish(within: 120)
    check([0, 3, 4, 5, 69, 75].contains(run.status), "\(run)")
    check(server.requests.count <= Self.mostRequests, "\(server.requests.count) requests")
    try checkItems(of: run, isMended: false)
    isMended.withLock { $0 = true }
    let next = try home.run("--json", "--items", "all")
    check(next.status == 0, "the next run: \(next)")
    try checkItems(of: next, isMended: true)
    check(FileTree.names("\(home.cache)/partial").isEmpty, "parts after the next run")
    #expect(problems.isEmpty, "\(context): \(problems.joined(separator: "\n"))")
  }

  private func check(_ isRight: Bool, _ problem: @autoclosure () -> String) {
    if !isRight { problems.append(problem()) }
  }

  private func checkItems(of run: ProgramRun, isMended: Bool) throws {
    let items = try run.json().list("items")
    check(items.count == replies.count, "\(items.count) items")
    for item in items {
      let path = item.text("url")?.dropFirst(server.base.count) ?? ""
      let number = path.split(separator: "/").first.flatMap { Int($0) } ?? 0
      let right = "sha256:\(Digest.hexadecimal(replies[number].body))"
      let isStored = item.text("digest") != nil
      let name = "\(number), \(replies[number].kind)"
      check(!isStored || item.text("digest") == right, "another body of \(name)")
      check(isStored || !isMended, "no body of \(name): \(item.text("error.message") ?? "")")
      let hasFailed = item.text("error.code") != nil || item.text("outcome") == "deferred"
      check(isStored != hasFailed, "neither stored nor failed: \(name)")
    }
    let right = Set(replies.map { Digest.hexadecimal($0.body) })
    check(Set(FileTree.objects(home.cache).keys).isSubset(of: right), "a wrong body is stored")
    let verify = try home.run("verify")
    check(verify.status == 0, "verify: \(verify)")
  }
}
