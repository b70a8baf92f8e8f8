import PrefetchCore
import PrefetchTestSupport

/// How a misbehaving server is spoken to.
enum Transport: String, Sendable, CaseIterable {
  case plain
  case tls
  case http2

  var scheme: String { self == .plain ? "http" : "https" }

  /// Transports that this machine can play.
  static let possible = allCases.filter { $0 != .http2 || TLSServer.canSpeakHTTP2 }
}

/// A server that plays a script per request over any transport.
final class MatrixServer: Sendable {
  /// Before the path of a URL.
  let base: String
  private let plain: LoopbackServer?
  private let secure: TLSServer?
  private let log: Guarded<[LoopbackRequest]>

  private static let certificate = Result { try TrustGround.shared.get().leaf() }

  init(
    _ transport: Transport,
    _ respond: @escaping @Sendable (LoopbackRequest) -> Script
  ) throws {
    let log = Guarded<[LoopbackRequest]>([])
    self.log = log
    let answer = { @Sendable (request: LoopbackRequest) -> Script in
      log.withLock { $0.append(request) }
      return respond(request)
    }
    guard transport != .plain else {
      let server = try LoopbackServer(answer)
      (plain, secure) = (server, nil)
      base = "http://127.0.0.1:\(server.port)"
      return
    }
    var options = TLSServer.Options(try Self.certificate.get())
    options.speaksHTTP2 = transport == .http2
    options.script = { answer(Self.request($0)) }
    let server = try TLSServer(options)
    (plain, secure) = (nil, server)
    base = "https://127.0.0.1:\(server.port)"
  }

  var requests: [LoopbackRequest] {
    log.withLock { $0 }
  }

  private static func request(_ head: String) -> LoopbackRequest {
    let lines = head.split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ").map { String($0) }
    var headers = HeaderBlock()
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers.append(HeaderField(String(line[..<colon]), String(value)))
    }
    return LoopbackRequest(
      method: words.first ?? "",
      target: words.count > 1 ? words[1] : "",
      headers: headers
    )
  }
}
