package import PrefetchCore

extension StagedBody {
  /// Computes digests of a body's contents on the worker, since large bodies take time.
  package mutating func inspect(_ bytes: RawSpan, for algorithms: Set<DigestAlgorithm>) {
    if algorithms.contains(.goMod) { otherDigests[.goMod] = ModuleSum.ofGoMod(bytes) }
    guard algorithms.contains(.goZip) else { return }
    do throws(ZipReader.Fault) {
      otherDigests[.goZip] = try ModuleSum.ofZip(bytes)
    } catch {
      let message = "it is not a zip file that could have the declared sum: \(error)"
      digestFailure = Failure(.digestMismatch, message)
    }
  }
}
