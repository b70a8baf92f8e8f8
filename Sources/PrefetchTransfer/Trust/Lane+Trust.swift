internal import CCurl
internal import PrefetchCore

extension Lane {
  /// Settles whether a proxy stands before a host, wherever that decides what is looked at.
  func settleProxy(before url: WebURL) throws(Failure) {
    let proxy = pool.options.of(url.scheme).proxy
    let isEncrypted = !proxy.url.isEmpty && proxy.isEncrypted
    // Over plain http a proxy reads everything; what was said to have no proxy must have none.
    let isRead = !proxy.url.isEmpty && url.scheme == .http
    guard pool.judgesAddresses || isEncrypted || isRead else {
      judgesAddresses = false
      isProxyEncrypted = false
      return
    }
    let isProxied = proxy.isBefore(url.host)
    judgesAddresses = pool.judgesAddresses && !isProxied
    isProxyEncrypted = isEncrypted && isProxied
    try handle.set(CURLOPT_NOPROXY, isProxied ? "" : "*")
  }

  /// Puts our demands into a TLS connection that libcurl is about to make; false forbids it.
  func prepareHandshake(_ context: TLSContext) -> Bool {
    // An encrypted proxy shakes hands before it is asked for a tunnel.
    if isProxyEncrypted, handle.number(CURLINFO_HTTP_CONNECTCODE) == 0 {
      return context.applyProxyRules(for: self)
    }
    trust = TrustCheck()
    guard context.apply(pool.rules) else { return false }
    context.judge(by: self)
    return true
  }

  func judgeCertificates(_ store: OpaquePointer) -> Bool {
    let isGood = unsafe trust.judge(
      store,
      of: host,
      under: pool.rules,
      keepsChain: probedURL != nil,
      keepsShown: isTraced
    )
    if isGood { pool.note(unexpectedKey: trust.unexpectedKey, of: origin) }
    return isGood
  }

  /// A socket to an address that the name of a host leads to, -1 where none may go there.
  func openSocket(_ address: SocketAddress) -> CInt {
    if judgesAddresses, let objection = pool.rules.reach.objection(to: address, of: host) {
      addressObjection = objection
      return -1
    }
    proxySession = nil
    hasOpenedSocket = true
    return pool.sockets.open(
      address,
      origin: origin,
      pool: pool.number,
      for: ObjectIdentifier(self)
    )
  }

  /// What was found out about the connection explains its fault better than libcurl can.
  func verdict(on fault: CurlFault) -> Failure? {
    switch fault.code {
    case CURLE_PEER_FAILED_VERIFICATION:
      return trust.refusal
    case CURLE_SSL_CONNECT_ERROR:
      return trust.refusal ?? refusedIdentity(fault.detail) ?? handshakeObjection(fault.detail)
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      // TLS 1.3 has the server judge our certificate once we are done.
      return refusedIdentity(fault.detail)
    case CURLE_SSL_CERTPROBLEM:
      return unusableIdentity(fault.detail)
    case CURLE_COULDNT_CONNECT:
      return addressObjection
    default:
      return nil
    }
  }

  /// What a server says that wants to know who we are.
  private static let doubts = [
    "alert certificate required", "alert bad certificate", "alert unsupported certificate",
    "alert certificate revoked", "alert certificate expired", "alert certificate unknown",
    "alert unknown ca", "alert access denied",
  ]

  private func refusedIdentity(_ detail: String) -> Failure? {
    // TLS 1.2 has no word for a certificate that is missing.
    let isMissed = trust.hasSeenCertificates && detail.contains("alert handshake failure")
    guard isMissed || fault(detail, isOneOf: Self.doubts) else { return nil }
    let message =
      pool.rules.client == nil
      ? "`\(host)` requires a client certificate; set one under `tls.client`"
      : "`\(host)` does not accept the client certificate"
    return Failure(.tls, "\(message): \(detail)")
  }

  private func unusableIdentity(_ detail: String) -> Failure? {
    guard let client = pool.rules.client else { return nil }
    return Failure(
      .permission,
      "the client certificate for `\(host)`, `\(client.certificate)` with its key `\(client.key)`, cannot "
        + "be used: \(detail)"
    )
  }

  private func fault(_ detail: String, isOneOf words: [String]) -> Bool {
    words.contains { detail.contains($0) }
  }

  /// OpenSSL's words for servers that offer only what is not safe enough.
  private static let weaknesses = [
    "alert protocol version", "unsupported protocol", "alert insufficient security",
    "dh key too small", "ee key too small", "ca key too small", "ca md too weak", "wrong curve",
    "wrong signature type", "legacy sigalg disallowed", "unsafe legacy renegotiation disabled",
    "no ciphers available", "no protocols available",
  ]

  private func handshakeObjection(_ detail: String) -> Failure? {
    // A server that shares no cipher or curve with us breaks off before it shows a certificate.
    let isRefused = detail.contains("alert handshake failure") && !trust.hasSeenCertificates
    guard isRefused || fault(detail, isOneOf: Self.weaknesses) else { return nil }
    return Failure(
      .transportSecurity,
      "`\(host)` offers no TLS that is safe enough (\(pool.rules.demand)): \(detail)"
    )
  }
}

extension ConnectionRules {
  fileprivate var demand: String {
    let secrecy = requiresForwardSecrecy ? " with forward secrecy" : ""
    return "TLS \(minimumTLS.number) or newer\(secrecy)"
  }
}
