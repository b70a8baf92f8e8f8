internal import COpenSSL
internal import PrefetchCore

@safe struct MessageDigest: ~Copyable {
  private let context: OpaquePointer
  private let byteCount: Int

  /// Returns nil when libcrypto does not offer the algorithm, such as MD5 under FIPS rules.
  init?(_ algorithm: DigestAlgorithm) {
    guard let address = Self.implementation(of: algorithm),
      let context = unsafe EVP_MD_CTX_new()
    else { return nil }
    guard unsafe EVP_DigestInit_ex2(context, OpaquePointer(bitPattern: address), nil) == 1 else {
      unsafe EVP_MD_CTX_free(context)
      return nil
    }
    unsafe self.context = context
    byteCount = algorithm.byteCount
  }

  deinit {
    unsafe EVP_MD_CTX_free(context)
  }

  func update(_ bytes: RawSpan) {
    let status = unsafe bytes.withUnsafeBytes { buffer in
      unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
    }
    // Only an uninitialized context rejects bytes.
    precondition(status == 1, "libcrypto refused bytes for a digest that it had begun")
  }

  func finish() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      unsafe finish(into: buffer)
      count = byteCount
    }
  }

  func finishContent() -> ContentDigest? {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { buffer in
      unsafe finish(into: buffer)
      return unsafe ContentDigest(UnsafeRawBufferPointer(buffer))
    }
  }

  /// Returns the SHA-256 so far; nil for other algorithms and without memory.
  func contentSoFar() -> ContentDigest? {
    guard byteCount == 32, let copy = unsafe EVP_MD_CTX_new() else { return nil }
    defer { unsafe EVP_MD_CTX_free(copy) }
    guard unsafe EVP_MD_CTX_copy_ex(copy, context) == 1 else { return nil }
    return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { buffer in
      guard unsafe EVP_DigestFinal_ex(copy, buffer.baseAddress, nil) == 1 else { return nil }
      return unsafe ContentDigest(UnsafeRawBufferPointer(buffer))
    }
  }

  private func finish(into buffer: UnsafeMutableBufferPointer<UInt8>) {
    let status = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
    precondition(status == 1, "libcrypto did not end a digest that it had begun")
    let restarted = unsafe EVP_DigestInit_ex2(context, nil, nil)
    precondition(restarted == 1, "libcrypto did not restart a digest that it had begun")
  }

  // Fetching is most of a short digest's cost; the immutable results are kept for all threads.
  private static let md5 = address(of: "MD5")
  private static let sha1 = address(of: "SHA1")
  private static let sha256 = address(of: "SHA2-256")
  private static let sha384 = address(of: "SHA2-384")
  private static let sha512 = address(of: "SHA2-512")

  private static func address(of name: String) -> UInt? {
    unsafe EVP_MD_fetch(nil, name, nil).map { UInt(bitPattern: $0) }
  }

  private static func implementation(of algorithm: DigestAlgorithm) -> UInt? {
    switch algorithm {
    case .md5: md5
    case .sha1: sha1
    case .sha256: sha256
    case .sha384: sha384
    case .sha512: sha512
    case .goZip, .goMod: nil
    }
  }
}
