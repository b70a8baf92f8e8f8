package import PrefetchCore

extension StagedBody {
  /// Looks into the body for digests that are not of its bytes; what cannot be looked into is not
  /// what was declared.
  ///
  /// The worker that received it does so, since a large body takes its time.
  package mutating func inspect(_ bytes: RawSpan, for algorithms: Set<DigestAlgorithm>) {
    if algorithms.contains(.goMod) { otherDigests[.goMod] = ModuleSum.ofGoMod(bytes) }
    guard algorithms.contains(.goZip) else { return }
    do throws(ZipReader.Fault) {
      otherDigests[.goZip] = try ModuleSum.ofZip(bytes)
    } catch {
      let message = "it is not a zip file that could have the declared sum: \(error)"
      objection = Failure(.digestMismatch, message)
    }
  }
}
