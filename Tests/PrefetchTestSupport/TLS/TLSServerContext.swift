internal import COpenSSL

/// OpenSSL's configuration of a server's handshakes.
@safe final class TLSServerContext: Sendable {
  private let address: UInt

  init(_ options: TLSServer.Options) throws {
    guard let context = unsafe SSL_CTX_new(TLS_server_method()), let own = options.chain.first
    else { throw TestKey.Fault(what: "no TLS") }
    address = UInt(bitPattern: context)
    // The server permits everything, since the client must find the faults.
    unsafe SSL_CTX_set_security_level(context, 0)
    let versions = options.versions
    unsafe prefetch_ssl_set_minimum_version(context, versions.lowerBound.rawValue)
    unsafe SSL_CTX_ctrl(
      context,
      SSL_CTRL_SET_MAX_PROTO_VERSION,
      Int(versions.upperBound.rawValue),
      nil
    )
    guard unsafe SSL_CTX_set_cipher_list(context, options.ciphers) == 1 else {
      throw TestKey.Fault(what: "no ciphers \(options.ciphers)")
    }
    if let groups = options.groups { unsafe Self.set(groups, context) }
    guard unsafe SSL_CTX_use_certificate(context, own.pointer) == 1,
      unsafe SSL_CTX_use_PrivateKey(context, own.key.pointer) == 1
    else { throw TestKey.Fault(what: "a certificate that OpenSSL does not serve") }
    for certificate in options.chain.dropFirst() {
      unsafe X509_up_ref(certificate.pointer)
      let pointer = unsafe certificate.pointer.map { unsafe UnsafeMutableRawPointer($0) }
      unsafe SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, pointer)
    }
    unsafe SSL_CTX_set_session_id_context(context, [1], 1)
    if options.speaksHTTP2 { unsafe Self.offerHTTP2(context) }
    guard let authority = options.clientAuthority else { return }
    unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.pointer)
    let fails = options.requiresClientCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | fails, nil)
  }

  deinit {
    unsafe SSL_CTX_free(pointer)
  }

  var pointer: OpaquePointer? {
    unsafe OpaquePointer(bitPattern: address)
  }

  /// Has clients choose HTTP/2 where they know it; others get HTTP/1.1.
  private static func offerHTTP2(_ context: OpaquePointer) {
    unsafe SSL_CTX_set_alpn_select_cb(
      context,
      { _, chosen, count, offered, size, _ in
        var start = 0
        while start < Int(size), let offered = unsafe offered, let chosen = unsafe chosen {
          let length = unsafe offered[start]
          if unsafe length == 2 && offered[start + 1] == UInt8(ascii: "h")
            && offered[start + 2] == UInt8(ascii: "2")
          {
            unsafe chosen.pointee = offered + start + 1
            unsafe count?.pointee = length
            return SSL_TLSEXT_ERR_OK
          }
          start += 1 + Int(length)
        }
        return SSL_TLSEXT_ERR_NOACK
      },
      nil
    )
  }

  /// Returns whether a handshake has chosen HTTP/2.
  static func isHTTP2(_ tls: OpaquePointer) -> Bool {
    var chosen: UnsafePointer<UInt8>?
    var count: CUnsignedInt = 0
    unsafe SSL_get0_alpn_selected(tls, &chosen, &count)
    return count == 2
  }

  private static func set(_ groups: String, _ context: OpaquePointer) {
    unsafe groups.withCString { text in
      let start = unsafe UnsafeMutableRawPointer(mutating: text)
      unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, start)
    }
  }
}
