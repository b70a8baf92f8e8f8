internal import COpenSSL
internal import PrefetchCore

struct TrustCheck {
  /// Whether the server showed certificates, which happens after version and ciphers are agreed on.
  private(set) var hasSeenCertificates = false
  /// Reason for refusing the certificates, which libcurl does not always learn.
  private(set) var refusal: Failure?
  /// Server's key that matches no report-only pin.
  private(set) var unexpectedKey: ContentDigest?
  /// Server's certificate, valid or not; only kept on demand, like the chain.
  private(set) var shown: ShownCertificate?
  private(set) var chain: [CertificateFacts] = []

  /// Verifies the certificates; returns false to end the handshake before any request is sent.
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
      refusal = CurlFault.untrusted("`\(host)`", ": \(words)")
      return false
    }
    guard let chain = unsafe VerifiedChain(store) else { return false }
    if keepsChain { self.chain = chain.facts }
    refusal = objection(to: chain, of: host, under: rules)
    guard refusal != nil else { return true }
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return false
  }

  /// Requires a chain up to a root, not only up to a trusted intermediate below a pinned authority.
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
