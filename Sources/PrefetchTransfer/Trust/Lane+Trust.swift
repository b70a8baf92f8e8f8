internal import CCurl
internal import PrefetchCore

extension Lane {
  /// Decides whether a proxy is used for a host, where that affects which addresses are checked.
  func settleProxy(before url: WebURL) throws(Failure) {
    let proxy = pool.options.of(url.scheme).proxy
    let isEncrypted = !proxy.url.isEmpty && proxy.isEncrypted
    // A proxy reads plain http: a host excepted from it must not use it.
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

  /// Applies the rules to a TLS connection before its handshake; returns false to forbid it.
  func prepareHandshake(_ context: TLSContext) -> Bool {
    // The first handshake with an encrypted proxy precedes the tunnel.
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
    if isGood { pool.setUnexpectedKey(trust.unexpectedKey, of: origin) }
    return isGood
  }

  /// Opens a socket to a host's address; returns -1 when that address is forbidden.
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

  /// Returns a more precise failure than libcurl's, from facts about the connection.
  func verdict(on fault: CurlFault) -> Failure? {
    switch fault.code {
    case CURLE_PEER_FAILED_VERIFICATION:
      return trust.refusal
    case CURLE_SSL_CONNECT_ERROR:
      return trust.refusal ?? refusedIdentity(fault.detail) ?? handshakeObjection(fault.detail)
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      // In TLS 1.3, the server judges the client certificate after the handshake.
      return refusedIdentity(fault.detail)
    case CURLE_SSL_CERTPROBLEM:
      return unusableIdentity(fault.detail)
    case CURLE_COULDNT_CONNECT:
      return addressObjection
    default:
      return nil
    }
  }

  /// OpenSSL's texts for alerts about the client certificate.
  private static let doubts = [
    "alert certificate required", "alert bad certificate", "alert unsupported certificate",
    "alert certificate revoked", "alert certificate expired", "alert certificate unknown",
    "alert unknown ca", "alert access denied",
  ]

  private func refusedIdentity(_ detail: String) -> Failure? {
    // TLS 1.2 has no alert for a missing client certificate.
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

  /// OpenSSL's texts for servers that offer only insecure parameters.
  private static let weaknesses = [
    "alert protocol version", "unsupported protocol", "alert insufficient security",
    "dh key too small", "ee key too small", "ca key too small", "ca md too weak", "wrong curve",
    "wrong signature type", "legacy sigalg disallowed", "unsafe legacy renegotiation disabled",
    "no ciphers available", "no protocols available",
  ]

  private func handshakeObjection(_ detail: String) -> Failure? {
    // A server without a common cipher or curve closes before it shows a certificate.
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
