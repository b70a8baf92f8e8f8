internal import COpenSSL

enum Ed25519 {
  static let signatureByteCount = 64

  static func verify(_ signature: [UInt8], of message: RawSpan, by publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureByteCount,
      let key = unsafe EVP_PKEY_new_raw_public_key(
        EVP_PKEY_ED25519,
        nil,
        publicKey,
        publicKey.count
      )
    else { return false }
    defer { unsafe EVP_PKEY_free(key) }
    guard let context = unsafe EVP_MD_CTX_new() else { return false }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
    let status = unsafe message.withUnsafeBytes { buffer in
      unsafe EVP_DigestVerify(
        context,
        signature,
        signature.count,
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
        buffer.count
      )
    }
    // libcrypto's queued error must not be taken for the next caller's.
    if status != 1 { ERR_clear_error() }
    return status == 1
  }

  static func sign(_ message: RawSpan, with seed: [UInt8]) -> [UInt8] {
    let key = unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    let context = unsafe EVP_MD_CTX_new()
    defer {
      unsafe EVP_PKEY_free(key)
      unsafe EVP_MD_CTX_free(context)
    }
    let begun = unsafe EVP_DigestSignInit(context, nil, nil, nil, key)
    precondition(begun == 1, "libcrypto without Ed25519 is not a working installation")
    return unsafe [UInt8](unsafeUninitializedCapacity: signatureByteCount) { signature, count in
      count = signatureByteCount
      let status = unsafe message.withUnsafeBytes { buffer in
        unsafe EVP_DigestSign(
          context,
          signature.baseAddress,
          &count,
          buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
          buffer.count
        )
      }
      precondition(status == 1, "libcrypto did not sign with a key that it had taken")
    }
  }

  static func publicKey(of seed: [UInt8]) -> [UInt8]? {
    guard
      let key = unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    else { return nil }
    defer { unsafe EVP_PKEY_free(key) }
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    guard unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == bytes.count else {
      return nil
    }
    return bytes
  }
}

/// Digest that minisign signs in place of the file.
enum BLAKE2b {
  static func digest512(of message: RawSpan) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 64) { digest, count in
      let status = unsafe message.withUnsafeBytes { buffer in
        unsafe EVP_Digest(
          buffer.baseAddress,
          buffer.count,
          digest.baseAddress,
          nil,
          EVP_blake2b512(),
          nil
        )
      }
      precondition(status == 1, "libcrypto without BLAKE2b is not a working installation")
      count = 64
    }
  }
}
