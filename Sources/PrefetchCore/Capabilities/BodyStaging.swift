/// A place for bodies that no reader may see yet.
package protocol BodyStaging: AnyObject {
  /// Opens a body; SHA-256 is always taken.
  ///
  /// A plan that continues a kept part throws when the part is not there as described.
  func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink
  /// The bytes of a finished body, mapped for the length of the call.
  func withBytes<Result>(of body: StagedBody, _ read: (RawSpan) throws -> Result) throws -> Result
  /// Forgets a finished body that is not wanted.
  func discard(_ body: StagedBody)
  /// Sets the bytes of the disk that must stay free: a body that would take them ends with `cache_full`.
  func keepFree(_ bytes: Int64)
}

extension BodyStaging {
  package func keepFree(_ bytes: Int64) {}
}

/// One body while it arrives; used by one thread at a time.
package protocol BodySink: AnyObject {
  /// How many bytes it holds already.
  var size: Int64 { get }
  func append(_ bytes: RawSpan) throws(Failure)
  /// Closes it, and takes the digests of what is inside of it; it can then be committed or discarded
  /// by the value returned.
  func finish() throws(Failure) -> StagedBody
  /// Ends it before it is whole and keeps what arrived for a later request; nil, and nothing kept,
  /// where the rest could not be asked for or is not worth it.
  func suspend() -> PartialBody?
  /// Makes what arrived worth keeping, however little it is.
  func valueAll()
  /// Drops what arrived; harmless after `finish` or a second time.
  func abandon()
  /// Begins another body from its first byte, now that the last one is finished; false where that
  /// takes a new sink.
  func begin(_ plan: BodyPlan) -> Bool
}

extension BodySink {
  package func valueAll() {}

  package func begin(_ plan: BodyPlan) -> Bool {
    false
  }
}

/// A complete body that has left the network and not yet entered the store.
package struct StagedBody: Hashable, Sendable {
  /// The number by which its staging area knows it.
  package var id: Int
  package var digest: ContentDigest
  package var size: Int64
  /// Digests besides SHA-256 that were asked for.
  package var otherDigests: [DigestAlgorithm: [UInt8]]
  /// Why a digest of what is inside of it cannot be taken.
  package var objection: Failure?
  /// Its first bytes, ``prefixLength`` of them where it has so many: enough to tell what it is.
  package var prefix: [UInt8]

  package static let prefixLength = 512

  package init(
    id: Int,
    digest: ContentDigest,
    size: Int64,
    otherDigests: [DigestAlgorithm: [UInt8]] = [:],
    prefix: [UInt8] = []
  ) {
    self.id = id
    self.digest = digest
    self.size = size
    self.otherDigests = otherDigests
    self.prefix = prefix
  }

  package func matches(_ expected: ExpectedDigest) -> Bool {
    expected.algorithm == .sha256
      ? expected.bytes == digest.bytes : otherDigests[expected.algorithm] == expected.bytes
  }
}
