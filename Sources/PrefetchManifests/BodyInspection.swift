package import PrefetchCore
internal import PrefetchCrypto

/// Looks into bodies for digests that are not of their bytes.
package enum BodyInspection {
  /// What cannot be looked into is not what was declared.
  package static func digests(
    of body: RawSpan,
    _ algorithms: Set<DigestAlgorithm>
  ) -> Result<[DigestAlgorithm: [UInt8]], Failure> {
    var digests: [DigestAlgorithm: [UInt8]] = [:]
    if algorithms.contains(.goMod) { digests[.goMod] = ModuleSum.ofGoMod(body) }
    guard algorithms.contains(.goZip) else { return .success(digests) }
    do throws(ZipReader.Fault) {
      digests[.goZip] = try ModuleSum.ofZip(body)
      return .success(digests)
    } catch {
      let message = "it is no zip file that could have the declared sum: \(error)"
      return .failure(Failure(.digestMismatch, message))
    }
  }
}
