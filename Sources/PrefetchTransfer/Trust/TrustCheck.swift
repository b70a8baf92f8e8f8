internal import COpenSSL
internal import PrefetchCore

/// What the certificates of one connection were found to be.
struct TrustCheck {
  /// Whether the server showed any, which it does once version and ciphers are agreed on.
  private(set) var hasSeenCertificates = false
  /// Why they are not good enough; libcurl does not always hear of it.
  private(set) var refusal: Failure?
  /// The server's key, where it is none of those that are only to be reported.
  private(set) var unexpectedKey: ContentDigest?
  /// What the server showed, good or not, and over which TLS; only filled on demand.
  private(set) var shown: ShownCertificate?
  /// Only filled on demand.
  private(set) var chain: [CertificateFacts] = []

  /// False ends the handshake, before anything of the request was sent.
  mutating func judge(
    _ store: OpaquePointer,
    of host: String,
    under rules: ConnectionRules,
    keepsChain: Bool,
    keepsShown: Bool = false
  ) -> Bool {
    hasSeenCertificates = true
    if keepsShown { shown = unsafe ShownCertificate(store) }
    if rules.pins.contains(where: { $0.authority != nil }) { unsafe requireWholeChain(store) }
    guard unsafe X509_verify_cert(store) == 1 else {
      let words = unsafe String(
        cString: X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(store)))
      )
      refusal = CurlFault.untrusted(host, ": \(words)")
      return false
    }
    guard let chain = unsafe VerifiedChain(store) else { return false }
    if keepsChain { self.chain = chain.facts }
    refusal = objection(to: chain, of: host, under: rules)
    guard refusal != nil else { return true }
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return false
  }

  /// Else a chain may end below the authority whose key is pinned, where the system trusts one of
  /// the certificates on the way.
  private func requireWholeChain(_ store: OpaquePointer) {
    let parameters = unsafe X509_STORE_CTX_get0_param(store)
    unsafe X509_VERIFY_PARAM_clear_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
  }

  private mutating func objection(
    to chain: VerifiedChain,
    of host: String,
    under rules: ConnectionRules
  ) -> Failure? {
    if let weakness = chain.weakness(isKeyLengthFree: !rules.requiresForwardSecrecy) {
      return Failure(.certificate, "the certificate of `\(host)` is too weak: \(weakness)")
    }
    guard !rules.pins.isEmpty else { return nil }
    let keys = chain.keys
    guard keys.count == chain.count, let key = keys.first else {
      return Failure(.pinMismatch, "the keys of `\(host)` cannot be read")
    }
    for rule in rules.pins where !rule.accepts(keys) {
      guard rule.onlyReports else { return rule.mismatch(keys, key, of: host) }
      unexpectedKey = key
    }
    return nil
  }
}

extension PinRule {
  fileprivate func mismatch(
    _ keys: [ContentDigest],
    _ key: ContentDigest,
    of host: String
  ) -> Failure {
    let entries = [self].words
    let isLeaf = leaf.map { !$0.contains(key) } ?? false
    let what =
      isLeaf
      ? "the key of `\(host)`, \(key.pinText), is none of those pinned in \(entries)"
      : "no authority above `\(host)` has a key pinned in \(entries); its own key is \(key.pinText)"
    return Failure(.pinMismatch, what)
  }
}
