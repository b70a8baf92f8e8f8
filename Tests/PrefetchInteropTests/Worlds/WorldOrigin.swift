import PrefetchCore
import PrefetchTestSupport
import Synchronization

/// Servers of a random world, over plain HTTP or TLS, with a log of their requests.
final class WorldOrigin: Sendable {
  struct Exchange: Sendable, CustomStringConvertible {
    var method: String
    var path: String
    var status: Int
    /// Bytes of the body as sent; none for HEAD.
    var bytes: Int

    var description: String { "\(method) \(path) \(status) \(bytes)" }
  }

  private struct State {
    var night = 0
    var pages: [String: WorldPage] = [:]
    var lists: [String: String] = [:]
    var log: [Exchange] = []
  }

  /// Base of most URLs.
  let base: String
  /// Base of the URLs that respond with Retry-After, which defers a whole host.
  let closingBase: String
  private let stage = Stage()
  private let plainHTTP: [LoopbackServer]
  private let tls: [TLSServer]

  init(_ wire: Wire, _ pages: [WorldPage]) throws {
    let stage = stage
    stage.state.withLock { state in
      for page in pages { state.pages[page.path] = page }
    }
    switch wire {
    case .plainHTTP:
      plainHTTP = try (0..<2).map { _ in try LoopbackServer { stage.respond($0) } }
      tls = []
      (base, closingBase) = (plainHTTP[0].address(""), plainHTTP[1].address(""))
    case .tls:
      var options = TLSServer.Options(try TrustGround.shared.get().leaf())
      options.script = { stage.respond(LoopbackRequest(head: $0)) }
      tls = try [options, options].map { try TLSServer($0) }
      plainHTTP = []
      base = "https://127.0.0.1:\(tls[0].port)"
      closingBase = "https://127.0.0.1:\(tls[1].port)"
    }
  }

  func begin(_ night: Int, lists: [String: String]) {
    stage.state.withLock { state in
      state.night = night
      state.lists = lists
    }
  }

  /// Returns the exchanges since the last call.
  func drainLog() -> [Exchange] {
    stage.state.withLock { state in
      defer { state.log = [] }
      return state.log
    }
  }

  private final class Stage: Sendable {
    let state = Mutex(State())

    func respond(_ request: LoopbackRequest) -> Script {
      state.withLock { state in
        let (script, status, bytes) = Self.respond(request, in: state)
        let sent = request.method == "HEAD" ? 0 : bytes
        state.log.append(
          Exchange(method: request.method, path: request.path, status: status, bytes: sent)
        )
        return script
      }
    }

    private static func respond(
      _ request: LoopbackRequest,
      in state: State
    ) -> (script: Script, status: Int, bytes: Int) {
      if let list = state.lists[request.path] {
        let site = Site([
          request.path: Site.Page(
            list,
            headers: [
              HeaderField("Content-Type", "application/json"),
              HeaderField("Cache-Control", "no-cache"),
            ]
          )
        ])
        let response = site.page(for: request)
        return (site.respond(to: request), response.status, response.body.count)
      }
      guard let page = state.pages[request.path] else { return (empty(404), 404, 0) }
      switch page.replies[state.night] {
      case .status(let status): return (empty(status), status, 0)
      case .later: return (empty(503, [("Retry-After", "7200")]), 503, 0)
      case .redirect(let status, let path): return (empty(status, [("Location", path)]), status, 0)
      case .page(let version):
        let site = Site([request.path: page.page(version)])
        let response = site.page(for: request)
        guard page.isChunked, response.status == 200 else {
          return (site.respond(to: request), response.status, response.body.count)
        }
        var headers = response.headers.map { ($0.name, $0.value) }
        guard request.method == "HEAD" else {
          let script = Script.chunked(200, headers, chunks: [response.body])
          return (script, 200, response.body.count)
        }
        headers.append(("Transfer-Encoding", "chunked"))
        return (Script([.send(Script.head(200, headers))]), 200, 0)
      }
    }

    private static func empty(_ status: Int, _ headers: [(String, String)] = []) -> Script {
      .respond(status, headers, text: "")
    }
  }
}

extension LoopbackRequest {
  /// Parses a request's head that came over TLS.
  fileprivate init(head: String) {
    let lines = head.split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    let fields = lines.dropFirst().compactMap { line -> HeaderField? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return HeaderField(String(line[..<colon]), String(value))
    }
    self.init(
      method: words.first.map { String($0) } ?? "",
      target: words.count > 1 ? String(words[1]) : "",
      headers: HeaderBlock(fields)
    )
  }
}
