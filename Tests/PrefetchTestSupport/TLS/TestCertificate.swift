internal import COpenSSL

/// A certificate for a test, with exactly the faults that the test wants.
@safe package final class TestCertificate: Sendable {
  /// Contents of a certificate.
  package struct Form: Sendable {
    package var name: String
    /// Alternative names such as `DNS:localhost,IP:127.0.0.1`; nil for none.
    package var alternatives: String?
    package var isAuthority = false
    /// Value of `basicConstraints`, when it differs from the usual one.
    package var constraints: String?
    /// Other extensions by OpenSSL's names, such as `keyUsage` and `nameConstraints`.
    package var extensions: [String: String] = [:]
    /// Start of validity, in seconds from now.
    package var begins = -86_400
    package var ends = 86_400
    package var digest = Digest.sha256

    package init(_ name: String, for alternatives: String? = nil, isAuthority: Bool = false) {
      self.name = name
      self.alternatives = alternatives
      self.isAuthority = isAuthority
    }
  }

  package enum Digest: Sendable {
    case md5
    case sha1
    case sha224
    case sha256
    /// Ed25519 has its own digest.
    case none
  }

  package let key: TestKey
  package let issuer: TestCertificate?
  /// Address of OpenSSL's certificate as a number, which threads may share.
  private let address: UInt

  /// Creates a certificate; without an issuer it is self-signed.
  package init(
    _ form: Form,
    by issuer: TestCertificate? = nil,
    key: TestKey? = nil
  ) throws {
    let key = try key ?? TestKey()
    guard let certificate = unsafe X509_new() else { throw TestKey.Fault(what: "no certificate") }
    self.key = key
    self.issuer = issuer
    address = UInt(bitPattern: certificate)
    unsafe X509_set_version(certificate, 2)
    unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
    unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), form.begins)
    unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), form.ends)
    unsafe X509_set_pubkey(certificate, key.pointer)
    let name = unsafe X509_get_subject_name(certificate)
    // 0x1000: the text is UTF-8.
    unsafe X509_NAME_add_entry_by_txt(name, "CN", 0x1000, form.name, -1, -1, 0)
    let signer = unsafe issuer?.pointer ?? pointer
    unsafe X509_set_issuer_name(certificate, X509_get_subject_name(signer))
    try unsafe addExtensions(form, signer)
    let digest = unsafe Self.method(form.digest)
    guard unsafe X509_sign(certificate, (issuer?.key ?? key).pointer, digest) > 0 else {
      throw TestKey.Fault(what: "no signature for \(form.name)")
    }
  }

  var pointer: OpaquePointer? {
    unsafe OpaquePointer(bitPattern: address)
  }

  deinit {
    unsafe X509_free(pointer)
  }

  private func addExtensions(_ form: Form, _ signer: OpaquePointer?) throws {
    var extensions = form.extensions
    extensions["basicConstraints"] =
      form.constraints ?? (form.isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
    extensions["subjectAltName"] = form.alternatives
    extensions["subjectKeyIdentifier"] = "hash"
    var context = unsafe X509V3_CTX()
    unsafe X509V3_set_ctx(&context, signer, pointer, nil, nil, 0)
    for (name, value) in extensions.sorted(by: { $0.key < $1.key }) {
      guard let made = unsafe X509V3_EXT_nconf(nil, &context, name, value) else {
        throw TestKey.Fault(what: "no extension \(name) = \(value)")
      }
      unsafe X509_add_ext(pointer, made, -1)
      unsafe X509_EXTENSION_free(made)
    }
  }

  private static func method(_ digest: Digest) -> OpaquePointer? {
    switch digest {
    case .md5: unsafe EVP_md5()
    case .sha1: unsafe EVP_sha1()
    case .sha224: unsafe EVP_sha224()
    case .sha256: unsafe EVP_sha256()
    case .none: nil
    }
  }

  /// Certificate in PEM form.
  package var text: String {
    unsafe PEM.text { unsafe PEM_write_bio_X509($0, pointer) == 1 }
  }
}
