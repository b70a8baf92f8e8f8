internal import COpenSSL
internal import PrefetchCore
internal import PrefetchCrypto

/// Chain that OpenSSL verified, up to the trusted root; valid only during the verification.
@safe struct VerifiedChain {
  /// Security bits of a signature; SHA-256 gives half of its bits.
  private static let leastSignatureStrength: CInt = 128
  private static let leastBitsOfRSA: CInt = 2_048
  private static let leastBitsOfCurve: CInt = 256

  private let stack: OpaquePointer
  let count: Int

  init?(_ store: OpaquePointer) {
    guard let stack = unsafe X509_STORE_CTX_get0_chain(store) else { return nil }
    let count = unsafe Int(prefetch_certificate_count(stack))
    guard count > 0 else { return nil }
    unsafe self.stack = stack
    self.count = count
  }

  var keys: [ContentDigest] {
    (0..<count).compactMap { index in
      unsafe certificate(index).flatMap { unsafe Self.key(of: $0) }
    }
  }

  var facts: [CertificateFacts] {
    (0..<count).compactMap { index in
      guard let certificate = unsafe certificate(index),
        let key = unsafe Self.key(of: certificate)
      else { return nil }
      return unsafe CertificateFacts(
        subject: CertificateText.subject(of: certificate),
        expires: CertificateText.expiry(of: certificate),
        key: key
      )
    }
  }

  func weakness(isKeyLengthFree: Bool) -> String? {
    for index in 0..<count {
      guard let certificate = unsafe certificate(index) else { return "it cannot be read" }
      if !isKeyLengthFree, let weakness = unsafe Self.weakKey(of: certificate) {
        return "\(weakness)\(suffix(index))"
      }
      // The root is trusted by itself and needs no signature.
      guard index < count - 1 else { continue }
      if let weakness = unsafe Self.weakSignature(of: certificate) {
        return "\(weakness)\(suffix(index))"
      }
    }
    return nil
  }

  private func suffix(_ index: Int) -> String {
    index == 0 ? "" : " (in certificate \(index + 1) of its chain)"
  }

  private func certificate(_ index: Int) -> OpaquePointer? {
    unsafe prefetch_certificate(stack, CInt(index))
  }

  private static func weakKey(of certificate: OpaquePointer) -> String? {
    guard let key = unsafe X509_get0_pubkey(certificate) else { return "its key cannot be read" }
    let bits = unsafe EVP_PKEY_get_bits(key)
    switch unsafe EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS:
      return bits < leastBitsOfRSA ? "its RSA key has only \(bits) bits" : nil
    case EVP_PKEY_EC:
      return bits < leastBitsOfCurve ? "its elliptic curve has only \(bits) bits" : nil
    case EVP_PKEY_ED25519, EVP_PKEY_ED448:
      return nil
    default:
      return "its key is of another kind than RSA and elliptic curves"
    }
  }

  private static func weakSignature(of certificate: OpaquePointer) -> String? {
    var digest: CInt = 0
    var strength: CInt = 0
    let status = unsafe X509_get_signature_info(certificate, &digest, nil, &strength, nil)
    guard status == 1 else { return "its signature cannot be read" }
    guard strength < leastSignatureStrength else { return nil }
    let name = unsafe OBJ_nid2sn(digest).map { unsafe String(cString: $0) } ?? "an unknown digest"
    return "its signature is made with \(name), which is weaker than SHA-256"
  }

  private static func key(of certificate: OpaquePointer) -> ContentDigest? {
    var start: UnsafeMutablePointer<UInt8>?
    let size = unsafe i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &start)
    guard size > 0, let bytes = unsafe start else { return nil }
    defer { unsafe CRYPTO_free(bytes, nil, 0) }
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(size))
    return unsafe SHA256.digest(of: buffer.bytes)
  }
}
