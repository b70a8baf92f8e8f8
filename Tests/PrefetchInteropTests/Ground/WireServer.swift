import PrefetchTestSupport

/// How a server is spoken to over HTTP/1.1.
enum Wire: String, CaseIterable, Sendable {
  case plainHTTP = "plainHTTP"
  case tls = "TLS"
}

/// A server that plays a script per method and path, with or without TLS alike.
final class WireServer {
  /// Before the path of a URL.
  let base: String
  private let plainHTTP: LoopbackServer?
  private let tls: TLSServer?

  init(
    _ wire: Wire,
    _ script: @escaping @Sendable (_ method: String, _ path: String) -> Script
  ) throws {
    switch wire {
    case .plainHTTP:
      let server = try LoopbackServer { script($0.method, $0.target) }
      (plainHTTP, tls) = (server, nil)
      base = "http://127.0.0.1:\(server.port)"
    case .tls:
      var options = TLSServer.Options(try TrustGround.shared.get().leaf())
      options.script = { head in
        let words = head.split(separator: " ", maxSplits: 2).map { String($0) }
        return script(words.first ?? "", words.count > 1 ? words[1] : "")
      }
      let server = try TLSServer(options)
      (plainHTTP, tls) = (nil, server)
      base = "https://127.0.0.1:\(server.port)"
    }
  }

  var requestCount: Int {
    plainHTTP?.requests.count ?? tls?.record.requests ?? 0
  }

  /// Configures a segment with these paths.
  func configure(_ home: Home, _ paths: [String], _ more: String...) throws {
    let urls = paths.map { "\"\(base)\($0)\"" }.joined(separator: ", ")
    try home.configure(
      """
      tls: { ca_file: "\(TrustGround.shared.get().authorities)" }
      cache: { min_free: 0 }
      segments: [{ name: s, urls: [\(urls)] }]
      \(more.joined(separator: "\n"))
      """
    )
  }
}
