internal import COpenSSL
internal import PrefetchCore

/// Settings of a TLS connection about to be made; they override OpenSSL's configuration.
@safe struct TLSContext {
  private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES"
  private static let ciphersWithoutForwardSecrecy = ":kRSA+AESGCM:kRSA+AES"
  private static let signatures =
    "ECDSA+SHA256:ECDSA+SHA384:ECDSA+SHA512:ed25519:ed448:RSA-PSS+SHA256:RSA-PSS+SHA384:"
    + "RSA-PSS+SHA512:rsa_pss_pss_sha256:rsa_pss_pss_sha384:rsa_pss_pss_sha512:RSA+SHA256:"
    + "RSA+SHA384:RSA+SHA512"

  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  /// Returns ciphers of TLS 1.2 and older; all ciphers of TLS 1.3 have forward secrecy.
  static func ciphers(_ rules: ConnectionRules) -> String {
    rules.requiresForwardSecrecy ? ciphers : ciphers + ciphersWithoutForwardSecrecy
  }

  /// Applies the rules; returns false when OpenSSL refuses, and then no connection may be made.
  func apply(_ rules: ConnectionRules) -> Bool {
    let isOld = rules.minimumTLS < .tls12
    // Old versions use SHA-1 and short keys, below every level; certificates are checked elsewhere.
    let isLenient = isOld || !rules.requiresForwardSecrecy
    unsafe SSL_CTX_set_security_level(pointer, isLenient ? 0 : 2)
    // A certificate shown in a renegotiation would not be checked.
    unsafe prefetch_ssl_forbid_renegotiation(pointer)
    unsafe prefetch_ssl_require_fresh_keys(pointer)
    unsafe prefetch_ssl_allow_old_servers(pointer, isOld ? 1 : 0)
    unsafe prefetch_ssl_keep_no_sessions(pointer)
    guard unsafe prefetch_ssl_set_minimum_version(pointer, rules.minimumTLS.protocolNumber) == 1,
      unsafe SSL_CTX_set_cipher_list(pointer, Self.ciphers(rules)) == 1
    else { return false }
    return unsafe isOld || prefetch_ssl_set_signatures(pointer, Self.signatures) == 1
  }

  /// Applies the rules of an encrypted proxy, which the system trusts; the lane gets its session.
  func applyProxyRules(for lane: Lane) -> Bool {
    unsafe prefetch_ssl_set_owner(pointer, Unmanaged.passUnretained(lane).toOpaque())
    unsafe SSL_CTX_set_info_callback(pointer, storeProxySession)
    unsafe prefetch_ssl_keep_no_sessions(pointer)
    return unsafe prefetch_ssl_set_minimum_version(pointer, CInt(TLS1_2_VERSION)) == 1
  }

  /// Makes the lane judge the certificates of the handshake; the lane outlives the handshake.
  func judge(by lane: Lane) {
    let address = unsafe Unmanaged.passUnretained(lane).toOpaque()
    unsafe SSL_CTX_set_cert_verify_callback(pointer, judgeCertificates, address)
  }
}

@safe struct TLSSession {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  var hasNegotiatedHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(pointer, &name, &count)
    return unsafe UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  var hasUnreadBytes: Bool {
    unsafe SSL_has_pending(pointer) == 1
  }
}

private func storeProxySession(_ session: OpaquePointer?, _ event: CInt, _ value: CInt) {
  guard event & SSL_CB_HANDSHAKE_START != 0, let session = unsafe session else { return }
  unsafe Lane.at(prefetch_ssl_owner(session))?.proxySession = TLSSession(session)
}

private func judgeCertificates(
  _ store: OpaquePointer?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let store = unsafe store, let lane = unsafe Lane.at(context) else { return 0 }
  return unsafe lane.judgeCertificates(store) ? 1 : 0
}

extension ConnectionRules.MinimumTLS {
  fileprivate var protocolNumber: CInt {
    switch self {
    case .tls10: CInt(TLS1_VERSION)
    case .tls11: CInt(TLS1_1_VERSION)
    case .tls12: CInt(TLS1_2_VERSION)
    case .tls13: CInt(TLS1_3_VERSION)
    }
  }
}
