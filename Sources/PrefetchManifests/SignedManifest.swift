package import PrefetchCore
internal import PrefetchCrypto

/// Reads a signed manifest; nothing is parsed before its signature is verified.
package enum SignedManifest {
  package static func read(
    _ bytes: RawSpan,
    source: ManifestSource,
    signature: [UInt8],
    demand: SignatureDemand
  ) throws(Failure) -> Manifest {
    let comment: TrustedComment
    do throws(Minisign.Fault) {
      comment = try Minisign.verify(bytes, signature: signature, keys: demand.keys)
    } catch {
      throw Failure(.signature, "`\(demand.name)`: \(error)")
    }
    var manifest = try ManifestReader.read(bytes, source: source)
    // Without a segment, only the signed file name keeps one manifest from replacing another.
    if manifest.segment == nil, let name = comment.file, name != demand.fileName {
      throw Failure(
        .signature,
        "`\(demand.name)`: it was signed as `\(name)`, not as `\(demand.fileName)`"
      )
    }
    manifest.generated = manifest.generated ?? comment.timestamp
    manifest.expires = manifest.expires ?? comment.expires
    return manifest
  }
}

extension ManifestReader {
  package typealias Proof = (demand: SignatureDemand, signature: [UInt8])

  /// Verifies the signature, then reads the document.
  ///
  /// Returns a `Result`: a typed throw out of a generic closure breaks the compiler (6.3).
  package static func reading(
    _ bytes: RawSpan,
    _ source: ManifestSource,
    signedBy proof: Proof? = nil
  ) -> Result<Manifest, Failure> {
    do throws(Failure) {
      var manifest: Manifest
      if let proof {
        manifest = try SignedManifest.read(
          bytes,
          source: source,
          signature: proof.signature,
          demand: proof.demand
        )
      } else {
        manifest = try read(bytes, source: source)
      }
      manifest.document.bytes = Int64(bytes.byteCount)
      if case .file = source.bytes { manifest.document.fileDigest = SHA256.digest(of: bytes) }
      return .success(manifest)
    } catch {
      return .failure(error)
    }
  }
}
