package import PrefetchCore
internal import PrefetchCrypto

/// Manifests of which nothing is read before a trusted key is known to have signed each byte.
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
    // One that says whose it is cannot stand in for another; any other is known by its name alone.
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
  /// A signature and what it has to prove.
  package typealias Proof = (demand: SignatureDemand, signature: [UInt8])

  /// Reads a document whose bytes are only lent, once what has to have signed it has.
  ///
  /// As a value, not by throwing: a typed error out of a generic closure breaks the compiler (6.3).
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
