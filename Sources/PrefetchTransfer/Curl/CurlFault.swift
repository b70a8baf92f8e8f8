internal import CCurl
internal import Glibc
internal import PrefetchCore

/// libcurl's reason for ending a transfer, with the state at that moment.
struct CurlFault: Error {
  enum Phase: Hashable, Sendable {
    /// Name lookup, connection and TLS, before any request was sent.
    case connecting
    case awaitingHead
    case receivingBody
  }

  var code: CURLcode
  var phase: Phase
  /// libcurl's message; it names hosts and certificates, never headers or queries of URLs.
  var detail: String
  var systemError: Int
  /// Status by which a proxy refused a tunnel, or 0.
  var proxyStatus: Int
  /// Host and port of the proxy that got the request; nil for a direct request.
  var proxy: String?
}

extension CurlFault {
  /// `CURLE_TOO_LARGE`, which the headers of libcurl 7 do not name.
  static let tooLarge = CURLcode(rawValue: 100)

  /// Returns the failure for libcurl's code; no other place translates these codes.
  func failure(for url: WebURL, settings: TransportSettings) -> Failure {
    let host = url.authority
    // Other end of the connection: the proxy where there is one, so that the server is not blamed.
    let peer = proxy.map { "the proxy `\($0)`" } ?? "`\(host)`"
    let isAtProxy =
      phase == .connecting && proxyStatus == 0 && proxy != nil
      && ProxyChoice(settings.proxy, scheme: url.scheme).isEncrypted
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST:
      return transient(.dns, "the name `\(url.host)` could not be looked up")
    case CURLE_COULDNT_RESOLVE_PROXY:
      let name = proxy ?? ""
      return transient(.dns, "the name of the proxy `\(name)` could not be looked up")
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_QUIC_CONNECT_ERROR:
      return connectFailure(peer)
    case CURLE_PROXY:
      return transient(.connect, "\(peer) did not connect to `\(host)`")
    case CURLE_OPERATION_TIMEDOUT:
      return timeoutFailure(host, peer, settings)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CLIENTCERT, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
      return transient(.tls, "no TLS connection to \(isAtProxy ? peer : "`\(host)`")\(reason)")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_CRL_BADFILE:
      return isAtProxy
        ? Self.untrusted(peer, reason, authority: "this machine has to trust its authority")
        : Self.untrusted("`\(host)`", reason)
    case CURLE_SSL_CACERT_BADFILE:
      return Failure(.certificate, "the trusted certificates could not be read\(reason)")
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return Failure(.pinMismatch, "the public key of `\(host)` matches none of its pins")
    case CURLE_PARTIAL_FILE where phase != .receivingBody:
      // Over HTTP/2, a connection that ends before the head gives this code.
      return connectionFailure(host, peer)
    case CURLE_PARTIAL_FILE:
      return transient(.truncated, "`\(host)` ended the connection before the whole body was there")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM,
      CURLE_HTTP3, CURLE_SEND_FAIL_REWIND, CURLE_SSL_SHUTDOWN_FAILED, CURLE_AGAIN,
      CURLE_UNRECOVERABLE_POLL:
      return connectionFailure(host, peer)
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
      return Failure(.badResponse, "`\(host)` answered with something that is not HTTP\(reason)")
    case CURLE_BAD_CONTENT_ENCODING:
      return Failure(.badResponse, "the coding of the body from `\(host)` cannot be read\(reason)")
    case CURLE_RANGE_ERROR:
      return Failure(.badResponse, "`\(host)` answered with another part than requested")
    case CURLE_FILESIZE_EXCEEDED:
      return Failure(.tooLarge, "the body from `\(host)` is larger than allowed")
    case CURLE_URL_MALFORMAT:
      return Failure(.badURL, "libcurl does not accept `\(url.redacted)`")
    case CURLE_OUT_OF_MEMORY where phase == .awaitingHead, Self.tooLarge:
      // libcurl 7 reports a header line beyond its bounds as out of memory, libcurl 8 headers and
      // trailers as too large; body sizes are checked by ``RunningTransfer``.
      return Failure(.badResponse, "`\(host)` answered with headers larger than allowed")
    case CURLE_BAD_FUNCTION_ARGUMENT where phase != .connecting:
      // libcurl also gives this code for a first header that begins with a blank, and for a trailer
      // without a colon or with a zero byte.
      return Failure(.badResponse, "`\(host)` answered with a header that libcurl cannot read")
    default:
      return Failure(
        .failed,
        "the transfer from `\(host)` failed\(reason) (libcurl \(code.rawValue))"
      )
    }
  }

  private func transient(_ code: ErrorCode, _ message: String) -> Failure {
    Failure(code, message, isTransient: true)
  }

  private var reason: String {
    detail.isEmpty ? "" : ": \(detail)"
  }

  static func untrusted(
    _ peer: String,
    _ reason: String,
    authority: String = "a private authority goes into `tls.ca_file`"
  ) -> Failure {
    let isAboutTime = reason.contains("expired") || reason.contains("not yet valid")
    let isAboutIssuer = ["issuer", "self-signed", "self signed"].contains { reason.contains($0) }
    let hint =
      isAboutTime
      ? "; if it should be, check this machine's clock"
      : isAboutIssuer ? "; \(authority)" : ""
    return Failure(.certificate, "the certificate of \(peer) is not trusted\(reason)\(hint)")
  }

  private func connectFailure(_ peer: String) -> Failure {
    let networkErrors = [ENETUNREACH, ENETDOWN].map { Int($0) }
    guard !networkErrors.contains(systemError) else {
      return transient(.noNetwork, "the network of \(peer) cannot be reached")
    }
    guard systemError != Int(ECONNREFUSED) else {
      return transient(.connect, "\(peer) refused the connection")
    }
    return transient(.connect, "no connection to \(peer)\(systemReason)")
  }

  private var systemReason: String {
    guard systemError != 0, let text = unsafe strerror(CInt(systemError)) else { return "" }
    return unsafe ": \(String(cString: text))"
  }

  private func timeoutFailure(
    _ host: String,
    _ peer: String,
    _ settings: TransportSettings
  ) -> Failure {
    phase == .connecting
      ? transient(.timeout, "no connection to \(peer) within \(settings.connectTimeout)")
      : transient(.timeout, "the transfer from `\(host)` took too long")
  }

  private func connectionFailure(_ host: String, _ peer: String) -> Failure {
    // libcurl gives the code of a lost connection for a refused tunnel and for broken chunks.
    if phase == .connecting, proxyStatus == 407 {
      return .wantedByProxy(proxy)
    }
    if phase == .connecting, proxyStatus >= 300 {
      let isTransient = proxyStatus >= 500
      return Failure(
        .connect,
        "\(peer) refused to connect to `\(host)` (status \(proxyStatus))",
        isTransient: isTransient
      )
    }
    // `chunked-encoding` in libcurl 7; `chunk hex-length`, `invalid chunk size` in libcurl 8.
    if phase == .receivingBody, detail.contains("chunk") {
      return Failure(.badResponse, "`\(host)` sent a body in broken chunks")
    }
    return transient(
      .reset,
      "`\(host)` broke the connection\(phase == .receivingBody ? " within the body" : "")"
    )
  }
}

extension WebURL {
  var authority: String {
    port == scheme.defaultPort ? host : "\(host):\(port)"
  }
}
