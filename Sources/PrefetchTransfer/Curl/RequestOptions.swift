internal import CCurl
internal import PrefetchCore

/// libcurl options of a pool's requests, kept so that only differences are set.
final class RequestOptions {
  struct SchemeOptions {
    fileprivate var version: Int
    fileprivate(set) var mayShareConnection: Bool
    fileprivate(set) var proxy: ProxyChoice
  }

  struct Current {
    fileprivate var scheme: WebURL.Scheme?
    fileprivate var version: Int?
    fileprivate var isDefaultGet = false
    fileprivate var isCounted = false
    fileprivate var ownHeaders: OwnHeaders?
  }

  fileprivate struct OwnHeaders: Hashable {
    var hasAgent: Bool
    /// Whether the server may code the body; nil leaves that to the request's own header.
    var coding: Bool?
  }

  let settings: TransportSettings
  let library: LibraryVersion
  fileprivate let http: SchemeOptions
  fileprivate let https: SchemeOptions

  init(_ settings: TransportSettings, library: LibraryVersion) {
    self.settings = settings
    self.library = library
    http = SchemeOptions(
      version: Int(CURL_HTTP_VERSION_1_1),
      mayShareConnection: false,
      proxy: ProxyChoice(settings.proxy, scheme: .http)
    )
    let version = settings.httpVersion.option(library)
    https = SchemeOptions(
      version: version,
      mayShareConnection: version != Int(CURL_HTTP_VERSION_1_1),
      proxy: ProxyChoice(settings.proxy, scheme: .https)
    )
  }

  /// Returns whether to try HTTP/3, which needs UDP; no proxy here carries UDP.
  func triesHTTP3(_ url: WebURL) -> Bool {
    guard url.scheme == .https, library.has(.http3), https.proxy.url.isEmpty else { return false }
    switch settings.httpVersion {
    case .auto, .http3: return !settings.has(.noHTTP3, of: url)
    case .http1, .http2: return false
    }
  }

  func of(_ scheme: WebURL.Scheme) -> SchemeOptions {
    switch scheme {
    case .http: http
    case .https: https
    }
  }
}

extension EasyHandle {
  /// Buffer size; libcurl reads up to a hundred buffers in one call, which delays other transfers.
  static let bufferSize = 65_536
  /// Buffer size under a volume limit, which a transfer exceeds by one read and one refused read.
  static let countedBufferSize = TransferRequest.Allowance.excess

  /// Accepted coding; bodies are decoded here, since libcurl takes a cut stream for a whole one.
  private static let coding = "gzip"

  func prepare(_ pool: ConnectionPool) throws(Failure) {
    let settings = pool.options.settings
    try set(CURLOPT_NOSIGNAL, true)
    // Otherwise a hanging lookup would block the worker when its transfer ends.
    try set(CURLOPT_QUICK_EXIT, true)
    try set(CURLOPT_FOLLOWLOCATION, false)
    try set(CURLOPT_HTTP09_ALLOWED, false)
    try set(CURLOPT_NETRC, false)
    try set(CURLOPT_PATH_AS_IS, true)
    try set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    try set(CURLOPT_TCP_KEEPALIVE, true)
    try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    // Zero would mean libcurl's default of five minutes.
    try set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, settings.connectTimeout.milliseconds)))
    try prepareTrust(pool)
    try prepareCallbacks()
  }

  private func prepareTrust(_ pool: ConnectionPool) throws(Failure) {
    let settings = pool.options.settings
    try set(CURLOPT_SSL_VERIFYPEER, true)
    try set(CURLOPT_SSL_VERIFYHOST, 2)
    // A resumed session would skip the check of the certificate chain.
    try set(CURLOPT_SSL_SESSIONID_CACHE, false)
    try set(CURLOPT_SSLVERSION, pool.rules.minimumTLS.option)
    try set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    // Other TLS libraries name ciphers differently and would refuse the list.
    if pool.options.library.usesOpenSSL {
      try set(CURLOPT_SSL_CIPHER_LIST, TLSContext.ciphers(pool.rules))
    }
    if let client = pool.rules.client {
      try set(CURLOPT_SSLCERT, client.certificate)
      try set(CURLOPT_SSLKEY, client.key)
    }
    if let file = settings.proxyCAFile { try set(CURLOPT_PROXY_CAINFO, file) }
    if let folder = settings.proxyCADirectory { try set(CURLOPT_PROXY_CAPATH, folder) }
    // Each of these replaces the system's certificates, which libcurl would otherwise trust too.
    guard settings.caFile != nil || settings.caDirectory != nil else { return }
    try set(CURLOPT_CAINFO, settings.caFile)
    try set(CURLOPT_CAPATH, settings.caDirectory)
  }

  func prepare(_ transfer: RunningTransfer, _ options: RequestOptions) throws(Failure) {
    let queued = transfer.queued
    let scheme = queued.request.url.scheme
    let isCounted = !queued.allowances.isEmpty
    if current.isCounted != isCounted {
      current.isCounted = isCounted
      try set(CURLOPT_BUFFERSIZE, isCounted ? Self.countedBufferSize : Self.bufferSize)
    }
    clearError()
    try url.set(queued)
    try set(scheme: scheme, options)
    let version = transfer.triesHTTP3 ? Int(CURL_HTTP_VERSION_3) : options.of(scheme).version
    if current.version != version {
      try set(CURLOPT_HTTP_VERSION, version)
      current.version = version
    }
    try set(method: queued.request.method)
    if case .put(let body) = queued.request.method { try transfer.openUpload(body) }
    try set(headersOf: transfer, options)
  }

  func prepare(probing url: WebURL, _ options: RequestOptions) throws(Failure) {
    try self.url.set(url, host: 0)
    try set(scheme: url.scheme, options)
    try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    try set(CURLOPT_CONNECT_ONLY, true)
  }

  private func set(scheme: WebURL.Scheme, _ options: RequestOptions) throws(Failure) {
    guard current.scheme != scheme else { return }
    // Counts only once all options are set.
    current.scheme = nil
    let values = options.of(scheme)
    try set(CURLOPT_PROTOCOLS_STR, scheme.rawValue)
    try set(CURLOPT_PIPEWAIT, values.mayShareConnection)
    try set(CURLOPT_PROXY, values.proxy.url)
    try set(CURLOPT_NOPROXY, values.proxy.exceptions)
    current.scheme = scheme
  }

  private func set(method: TransferRequest.Method) throws(Failure) {
    switch method {
    case .get:
      guard !current.isDefaultGet else { return }
      try set(CURLOPT_HTTPGET, true)
      current.isDefaultGet = true
    case .head:
      current.isDefaultGet = false
      try set(CURLOPT_HTTPGET, true)
      try set(CURLOPT_NOBODY, true)
    case .post(let body):
      current.isDefaultGet = false
      try set(CURLOPT_NOBODY, false)
      try set(CURLOPT_POST, true)
      try set(postBody: body)
    case .put(let body):
      current.isDefaultGet = false
      try set(CURLOPT_NOBODY, false)
      try set(CURLOPT_UPLOAD, true)
      try set(CURLOPT_INFILESIZE_LARGE, offset: body.size)
    }
  }

  /// Sets the headers; libcurl would format its own fields twice for every request.
  private func set(
    headersOf transfer: RunningTransfer,
    _ options: RequestOptions
  ) throws(Failure) {
    let queued = transfer.queued
    let fields = queued.request.headers
    let mayBeCoded = queued.request.allowsCoding && !transfer.isContinuing
    let own = RequestOptions.OwnHeaders(
      hasAgent: !fields.has("user-agent") && !options.settings.userAgent.isEmpty,
      coding: fields.has("accept-encoding") ? nil : mayBeCoded
    )
    if current.ownHeaders == own {
      headers.clear()
    } else {
      try keep(own, options)
    }
    for field in fields {
      try headers.add(field.name, field.value)
    }
    if let part = transfer.continued {
      let (start, end) = part.firstHole
      try headers.add("Range", "bytes=\(start)-\(end.map { String($0 - 1) } ?? "")")
      try headers.add("If-Range", part.validator)
    }
    switch queued.request.method {
    case .post, .put:
      headers.suppress("Expect")
      if !fields.has("content-type") { headers.suppress("Content-Type") }
    case .get, .head: break
    }
    try setHeaders()
  }

  private func keep(_ own: RequestOptions.OwnHeaders, _ options: RequestOptions) throws(Failure) {
    current.ownHeaders = nil
    headers.clearAll()
    if own.hasAgent { try headers.add("User-Agent", options.settings.userAgent) }
    if let isCoded = own.coding {
      try headers.add("Accept-Encoding", isCoded ? Self.coding : "identity")
    }
    headers.keep()
    current.ownHeaders = own
  }
}

extension ConnectionRules.MinimumTLS {
  fileprivate var option: Int {
    switch self {
    case .tls10: Int(CURL_SSLVERSION_TLSv1_0)
    case .tls11: Int(CURL_SSLVERSION_TLSv1_1)
    case .tls12: Int(CURL_SSLVERSION_TLSv1_2)
    case .tls13: Int(CURL_SSLVERSION_TLSv1_3)
    }
  }
}

extension TransportSettings.HTTPVersion {
  /// Returns the highest version below HTTP/3 that this libcurl offers over TLS.
  fileprivate func option(_ library: LibraryVersion) -> Int {
    guard library.has(.http2) else { return Int(CURL_HTTP_VERSION_1_1) }
    switch self {
    case .http1: return Int(CURL_HTTP_VERSION_1_1)
    case .auto, .http2, .http3: return Int(CURL_HTTP_VERSION_2TLS)
    }
  }
}
