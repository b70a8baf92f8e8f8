/// Staging area for bodies that readers cannot see yet.
package protocol BodyStaging: AnyObject {
  /// Opens a body; throws when the plan continues a kept part that is missing or differs.
  func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink
  /// Passes the mapped bytes of a finished body to `read`; they are valid only during the call.
  func withBytes<Result>(of body: StagedBody, _ read: (RawSpan) throws -> Result) throws -> Result
  func discard(_ body: StagedBody)
  /// Sets the disk bytes that must stay free; a body that would use them ends with `cache_full`.
  func keepFree(_ bytes: Int64)
}

extension BodyStaging {
  package func keepFree(_ bytes: Int64) {}
}

/// Writer of one body while it arrives; used by one thread at a time.
package protocol BodySink: AnyObject {
  var size: Int64 { get }
  func append(_ bytes: RawSpan) throws(Failure)
  /// Closes the body and computes its inner digests; the returned value commits or discards it.
  func finish() throws(Failure) -> StagedBody
  /// Closes an incomplete body and keeps its bytes for a later request; nil if they are not kept.
  func suspend() -> PartialBody?
  func keepAnyPart()
  /// Drops the received bytes; has no effect after `finish` or a second call.
  func abandon()
  /// Starts another body after the last one finished; false if this takes a new sink.
  func begin(_ plan: BodyPlan) -> Bool
}

extension BodySink {
  package func keepAnyPart() {}

  package func begin(_ plan: BodyPlan) -> Bool {
    false
  }
}

/// Writer of a body whose bytes may arrive out of order, from several connections.
package protocol RangeSink: BodySink {
  /// Lets bytes arrive out of order from now on; false if they must arrive in order.
  func beginRanges() -> Bool
  func write(_ bytes: RawSpan, at offset: Int64) throws(Failure)
  /// Hashes at most so many written bytes behind the first `size`, which were hashed before.
  func hashWritten(atMost count: Int64) throws(Failure)
  /// Forgets all bytes behind the first `size`, which arrive again in order.
  func forgetSpans()
}

/// Complete body that has been received and not yet committed.
package struct StagedBody: Hashable, Sendable {
  package var id: Int
  package var digest: ContentDigest
  package var size: Int64
  package var otherDigests: [DigestAlgorithm: [UInt8]]
  package var digestFailure: Failure?
  /// First bytes of the body, up to ``prefixLength``, from which its type is recognised.
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
