internal import COpenSSL
package import PrefetchCore
internal import PrefetchCrypto

/// A key pair for a test, with the private key in a file.
@safe package final class TestKey: Sendable {
  package enum Kind: Hashable, Sendable {
    case curve(String)
    case rsa(Int)
    case edwards
  }

  package struct Fault: Error {
    package var what: String
  }

  /// Address of OpenSSL's key as a number, which threads may share.
  private let address: UInt

  package init(_ kind: Kind = .curve("P-256")) throws {
    let name =
      switch kind {
      case .curve: "EC"
      case .rsa: "RSA"
      case .edwards: "ED25519"
      }
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, name, nil) else {
      throw Fault(what: "no keys of the kind \(name)")
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    unsafe EVP_PKEY_keygen_init(context)
    switch kind {
    case .curve(let group): unsafe EVP_PKEY_CTX_set_group_name(context, group)
    case .rsa(let bits): unsafe EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(bits))
    case .edwards: break
    }
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key else {
      throw Fault(what: "no key of the kind \(kind)")
    }
    address = UInt(bitPattern: key)
  }

  var pointer: OpaquePointer? {
    unsafe OpaquePointer(bitPattern: address)
  }

  deinit {
    unsafe EVP_PKEY_free(pointer)
  }

  /// SHA-256 of the SubjectPublicKeyInfo, as pins state it.
  package var digest: ContentDigest {
    var start: UnsafeMutablePointer<UInt8>?
    let size = unsafe i2d_PUBKEY(pointer, &start)
    guard size > 0, let bytes = unsafe start else { return .none }
    defer { unsafe CRYPTO_free(bytes, nil, 0) }
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(size))
    return unsafe SHA256.digest(of: buffer.bytes)
  }

  /// Private key in PEM form, unencrypted.
  package var text: String {
    unsafe PEM.text { unsafe PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) == 1 }
  }
}

/// Returns the text that an OpenSSL function writes.
enum PEM {
  static func text(_ write: (OpaquePointer) -> Bool) -> String {
    guard let output = unsafe BIO_new(BIO_s_mem()) else { return "" }
    defer { unsafe BIO_free(output) }
    guard unsafe write(output) else { return "" }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let size = unsafe BIO_read(output, &bytes, CInt(bytes.count))
    return String(decoding: bytes.prefix(max(0, Int(size))), as: UTF8.self)
  }
}
