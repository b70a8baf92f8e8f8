internal import COpenSSL
package import PrefetchCore

/// Hashes streamed bodies, always with SHA-256; after `finish` it is ready for the next body.
package final class BodyHasher {
  private let sha256: MessageDigest
  private let others: [RequestedDigest]

  /// Throws only for an algorithm that this machine's libcrypto does not offer.
  package init(alsoHashing algorithms: Set<DigestAlgorithm> = []) throws(Failure) {
    guard let sha256 = MessageDigest(.sha256) else { throw Self.missing(.sha256) }
    var others: [RequestedDigest] = []
    // Digests of a body's contents, such as `h1:`, are computed from the whole body later.
    for algorithm in algorithms.sorted() where algorithm != .sha256 && algorithm.isOfBytes {
      guard let digest = MessageDigest(algorithm) else { throw Self.missing(algorithm) }
      others.append(RequestedDigest(algorithm: algorithm, digest: digest))
    }
    self.sha256 = sha256
    self.others = others
  }

  static func ofSHA256() -> BodyHasher {
    do throws(Failure) {
      return try BodyHasher()
    } catch {
      preconditionFailure("libcrypto without SHA-256 is no working installation")
    }
  }

  package func update(_ bytes: RawSpan) {
    sha256.update(bytes)
    for other in others {
      other.digest.update(bytes)
    }
  }

  package func finish() -> BodyDigests {
    var found: [DigestAlgorithm: [UInt8]] = [:]
    for other in others {
      found[other.algorithm] = other.digest.finish()
    }
    return BodyDigests(sha256: sha256.finishSHA256(), others: found)
  }

  /// Returns the SHA-256 of the bytes so far without ending the body.
  package func digestSoFar() -> ContentDigest? {
    sha256.contentSoFar()
  }

  private static func missing(_ algorithm: DigestAlgorithm) -> Failure {
    Failure(.unsupported, "libcrypto offers no `\(algorithm.rawValue)` here")
  }
}

package struct BodyDigests: Hashable, Sendable {
  package var sha256: ContentDigest
  package var others: [DigestAlgorithm: [UInt8]]
}

/// A class, since arrays cannot hold noncopyable values.
private final class RequestedDigest {
  let algorithm: DigestAlgorithm
  let digest: MessageDigest

  init(algorithm: DigestAlgorithm, digest: consuming MessageDigest) {
    self.algorithm = algorithm
    self.digest = digest
  }
}

extension MessageDigest {
  fileprivate func finishSHA256() -> ContentDigest {
    guard let digest = finishContent() else { preconditionFailure("SHA-256 has 32 bytes") }
    return digest
  }
}

package enum SHA256 {
  package static func digest(of bytes: RawSpan) -> ContentDigest {
    guard let sha256 = MessageDigest(.sha256) else {
      preconditionFailure("libcrypto without SHA-256 is no working installation")
    }
    sha256.update(bytes)
    return sha256.finishSHA256()
  }

  package static func digest(of bytes: [UInt8]) -> ContentDigest {
    unsafe digest(of: bytes.span.bytes)
  }

  package static func digest(of text: String) -> ContentDigest {
    digest(of: Array(text.utf8))
  }

  /// Returns the digest of a text that only names something, without a provider of OpenSSL.
  package static func digest(naming text: String) -> ContentDigest {
    var text = text
    return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { buffer in
      text.withUTF8 { bytes in
        unsafe prefetch_sha256(bytes.baseAddress, bytes.count, buffer.baseAddress)
      }
      guard let digest = unsafe ContentDigest(UnsafeRawBufferPointer(buffer)) else {
        preconditionFailure("a SHA-256 has 32 bytes")
      }
      return digest
    }
  }
}
