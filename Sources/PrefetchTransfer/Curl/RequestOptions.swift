internal import CCurl
internal import PrefetchCore

/// What a request needs of libcurl's options, and how little of it has to be set anew.
struct RequestOptions {
  /// What follows from the scheme of a URL alone.
  fileprivate struct SchemeOptions {
    var version: Int
    var awaitsSharing: Bool
    var proxy: ProxyChoice
  }

  /// What a handle is set to.
  struct Current {
    fileprivate var scheme: WebURL.Scheme?
    fileprivate var version: Int?
    fileprivate var acceptsCoding: Bool?
    fileprivate var isPlainGet = false
  }

  let settings: TransportSettings
  fileprivate let library: LibraryVersion
  /// What this libcurl decodes, as `Accept-Encoding` lists it.
  fileprivate let codings: String
  fileprivate let http: SchemeOptions
  fileprivate let https: SchemeOptions

  init(_ settings: TransportSettings, library: LibraryVersion) {
    self.settings = settings
    self.library = library
    let codings: [(LibraryVersion.Feature, String)] = [
      (.gzip, "gzip, deflate"), (.brotli, "br"), (.zstd, "zstd"),
    ]
    self.codings = codings.filter { library.has($0.0) }.map(\.1).joined(separator: ", ")
    http = SchemeOptions(
      version: Int(CURL_HTTP_VERSION_1_1),
      awaitsSharing: false,
      proxy: ProxyChoice(settings.proxy, scheme: .http)
    )
    let version = settings.httpVersion.option(library)
    https = SchemeOptions(
      version: version,
      awaitsSharing: version != Int(CURL_HTTP_VERSION_1_1),
      proxy: ProxyChoice(settings.proxy, scheme: .https)
    )
  }

  /// Whether HTTP/3 is worth a try: it needs UDP all the way, which no proxy here carries.
  func triesHTTP3(_ url: WebURL) -> Bool {
    guard url.scheme == .https, library.has(.http3), https.proxy.url.isEmpty else { return false }
    switch settings.httpVersion {
    case .auto, .http3: return !settings.http3Failures.contains(url.host)
    case .http1, .http2: return false
    }
  }

  /// Whether several requests may go over one connection at a time.
  func mayShareConnection(_ scheme: WebURL.Scheme) -> Bool {
    of(scheme).awaitsSharing
  }

  fileprivate func of(_ scheme: WebURL.Scheme) -> SchemeOptions {
    switch scheme {
    case .http: http
    case .https: https
    }
  }
}

extension EasyHandle {
  /// Key exchanges with forward secrecy only; TLS 1.3 knows no others.
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES"
  /// libcurl reads up to a hundred buffers before it returns to the loop, which bounds how long one
  /// fast transfer holds up all others.
  static let bufferSize = 65_536

  /// Sets what never changes between the requests of a run.
  func prepare(_ options: RequestOptions) throws(Failure) {
    let settings = options.settings
    try set(CURLOPT_NOSIGNAL, true)
    try set(CURLOPT_FOLLOWLOCATION, false)
    try set(CURLOPT_HTTP09_ALLOWED, false)
    try set(CURLOPT_NETRC, false)
    try set(CURLOPT_PATH_AS_IS, true)
    try set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    try set(CURLOPT_TCP_KEEPALIVE, true)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    // Zero would mean libcurl's own five minutes.
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, settings.connectTimeout.milliseconds)))
    try prepareTrust(settings, library: options.library)
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

  /// Sets what differs from the handle's last request.
  func prepare(_ exchange: WireExchange, _ options: RequestOptions) throws(Failure) {
    let request = exchange.request
    clearError()
    try url.set(request.url)
    try set(scheme: request.url.scheme, options)
    let version =
      exchange.triesHTTP3 ? Int(CURL_HTTP_VERSION_3) : options.of(request.url.scheme).version
    if current.version != version {
      try set(CURLOPT_HTTP_VERSION, version)
      current.version = version
    }
    try set(method: request.method)
    let acceptsCoding = exchange.acceptsCoding && !options.codings.isEmpty
    try set(headersOf: exchange, options, acceptsCoding: acceptsCoding)
    if current.acceptsCoding != acceptsCoding {
      // Given the header as well, libcurl sends that and takes this as leave to decode.
      try set(CURLOPT_ACCEPT_ENCODING, acceptsCoding ? "" : nil)
      current.acceptsCoding = acceptsCoding
    }
  }

  private func set(scheme: WebURL.Scheme, _ options: RequestOptions) throws(Failure) {
    guard current.scheme != scheme else { return }
    // Only once all of it is set does it count.
    current.scheme = nil
    let values = options.of(scheme)
    try set(CURLOPT_PROTOCOLS_STR, scheme.rawValue)
    try set(CURLOPT_PIPEWAIT, values.awaitsSharing)
    try set(CURLOPT_PROXY, values.proxy.url)
    try set(CURLOPT_NOPROXY, values.proxy.exceptions)
    current.scheme = scheme
  }

  private func set(method: TransferRequest.Method) throws(Failure) {
    switch method {
    case .get:
      guard !current.isPlainGet else { return }
      try set(CURLOPT_HTTPGET, true)
      current.isPlainGet = true
    case .head:
      current.isPlainGet = false
      try set(CURLOPT_HTTPGET, true)
      try set(CURLOPT_NOBODY, true)
    case .post(let body):
      current.isPlainGet = false
      try set(CURLOPT_NOBODY, false)
      try set(CURLOPT_POST, true)
      try set(postBody: body)
    }
  }

  /// libcurl formats what it adds by itself twice for every request, and these only once.
  private func set(
    headersOf exchange: WireExchange,
    _ options: RequestOptions,
    acceptsCoding: Bool
  ) throws(Failure) {
    let request = exchange.request
    let agent = options.settings.userAgent
    let validator = exchange.continued?.validator ?? ""
    let size = request.headers.reduce(validator.utf8.count + agent.utf8.count) {
      $0 + $1.name.utf8.count + $1.value.utf8.count
    }
    headers.clear(
      fields: request.headers.count + Self.ownHeaderCount,
      bytes: size + Self.ownHeaderSize
    )
    for field in request.headers {
      try headers.add(field.name, field.value)
    }
    if let part = exchange.continued {
      try headers.add("Range", "bytes=\(part.offset)-")
      try headers.add("If-Range", part.validator)
    }
    if !request.has("User-Agent"), !agent.isEmpty { try headers.add("User-Agent", agent) }
    if !request.has("Accept-Encoding") {
      try headers.add("Accept-Encoding", acceptsCoding ? options.codings : "identity")
    }
    if case .post = request.method {
      headers.suppress("Expect")
      if !request.has("Content-Type") { headers.suppress("Content-Type") }
    }
    try setHeaders()
  }

  /// Those that are added above to what a request brings, and room for them.
  private static let ownHeaderCount = 6
  private static let ownHeaderSize = 200
}

extension TransportSettings.HTTPVersion {
  /// The nearest below HTTP/3 that this libcurl offers over TLS.
  fileprivate func option(_ library: LibraryVersion) -> Int {
    guard library.has(.http2) else { return Int(CURL_HTTP_VERSION_1_1) }
    switch self {
    case .http1: return Int(CURL_HTTP_VERSION_1_1)
    case .auto, .http2, .http3: return Int(CURL_HTTP_VERSION_2TLS)
    }
  }
}
