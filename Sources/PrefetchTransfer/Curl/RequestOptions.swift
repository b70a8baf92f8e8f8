internal import CCurl
internal import PrefetchCore

extension EasyHandle {
  /// Key exchanges with forward secrecy only; TLS 1.3 knows no others.
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES"
  /// libcurl reads up to a hundred buffers before it returns to the loop, which bounds how long one
  /// fast transfer holds up all others.
  private static let bufferSize = 65_536

  /// Sets what never changes between the requests of a run.
  func prepare(_ settings: TransportSettings, library: LibraryVersion) throws(Failure) {
    try set(CURLOPT_NOSIGNAL, true)
    try set(CURLOPT_FOLLOWLOCATION, false)
    try set(CURLOPT_HTTP09_ALLOWED, false)
    try set(CURLOPT_NETRC, false)
    try set(CURLOPT_PATH_AS_IS, true)
    try set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    try set(CURLOPT_TCP_KEEPALIVE, true)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    try set(CURLOPT_USERAGENT, settings.userAgent)
    // Zero would mean libcurl's own five minutes.
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, settings.connectTimeout.milliseconds)))
    try prepareTrust(settings, library: library)
    try prepareCallbacks()
  }

  private func prepareTrust(
    _ settings: TransportSettings,
    library: LibraryVersion
  ) throws(Failure) {
    try set(CURLOPT_SSL_VERIFYPEER, true)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    // A resumed session would skip the check of the certificate chain.
    try set(CURLOPT_SSL_SESSIONID_CACHE, false)
    switch settings.minimumTLS {
    case .tls12: try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    case .tls13: try set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_3))
    }
    // Other TLS libraries have other names for ciphers and would refuse the whole list.
    if library.usesOpenSSL {
      try set(CURLOPT_SSL_CIPHER_LIST, Self.ciphers)
    }
    // Either one replaces the system's certificates, which libcurl would otherwise trust besides.
    guard settings.caFile != nil || settings.caDirectory != nil else { return }
    try set(CURLOPT_CAINFO, settings.caFile)
    try set(CURLOPT_CAPATH, settings.caDirectory)
  }

  /// Sets everything that may differ from one request to the next.
  func prepare(
    _ exchange: WireExchange,
    settings: TransportSettings,
    library: LibraryVersion
  ) throws(Failure) {
    let request = exchange.request
    clearError()
    try set(CURLOPT_URL, request.url.string)
    try set(CURLOPT_PROTOCOLS_STR, request.url.scheme.rawValue)
    try set(method: request.method)
    try set(headers: try Self.headers(of: exchange))
    let allowsCoding = request.allowsCoding && exchange.continued == nil
    try set(CURLOPT_ACCEPT_ENCODING, allowsCoding ? "" : nil)
    // Progress tells the size on the wire, which only coded bodies need.
    try set(CURLOPT_NOPROGRESS, !allowsCoding)
    let version = settings.httpVersion.option(for: request.url.scheme, library: library)
    try set(CURLOPT_HTTP_VERSION, version)
    try set(CURLOPT_PIPEWAIT, request.url.scheme == .https && settings.httpVersion != .http1)
    let proxy = ProxyChoice(settings.proxy, scheme: request.url.scheme)
    try set(CURLOPT_PROXY, proxy.url)
    try set(CURLOPT_NOPROXY, proxy.exceptions)
  }

  private func set(method: TransferRequest.Method) throws(Failure) {
    switch method {
    case .get:
      try set(CURLOPT_HTTPGET, true)
    case .head:
      try set(CURLOPT_HTTPGET, true)
      try set(CURLOPT_NOBODY, true)
    case .post(let body):
      try set(CURLOPT_NOBODY, false)
      try set(CURLOPT_POST, true)
      try set(postBody: body)
    }
  }

  private static func headers(of exchange: WireExchange) throws(Failure) -> HeaderList {
    let request = exchange.request
    var list = HeaderList()
    for field in request.headers {
      try list.add(field)
    }
    if let part = exchange.continued {
      try list.add(HeaderField("Range", "bytes=\(part.offset)-"))
      try list.add(HeaderField("If-Range", part.validator))
    }
    if !request.allowsCoding || exchange.continued != nil, !request.has("Accept-Encoding") {
      try list.add(HeaderField("Accept-Encoding", "identity"))
    }
    guard case .post = request.method else { return list }
    try list.suppress("Expect")
    if !request.has("Content-Type") {
      try list.suppress("Content-Type")
    }
    return list
  }
}

extension TransportSettings.HTTPVersion {
  /// The nearest that this libcurl and the scheme offer.
  fileprivate func option(
    for scheme: WebURL.Scheme,
    library: LibraryVersion
  ) -> Int {
    guard scheme == .https, library.has(.http2) else { return Int(CURL_HTTP_VERSION_1_1) }
    switch self {
    case .http1:
      return Int(CURL_HTTP_VERSION_1_1)
    case .auto, .http2:
      return Int(CURL_HTTP_VERSION_2TLS)
    case .http3:
      return Int(library.has(.http3) ? CURL_HTTP_VERSION_3 : CURL_HTTP_VERSION_2TLS)
    }
  }
}
