package import PrefetchCore
internal import PrefetchCrypto

/// Staged bodies in memory, with a disk that can be made to fail.
package final class MemoryStaging: BodyStaging {
  package enum Fault: Error {
    case unknownBody(Int)
  }

  /// Thrown by `beginBody`.
  package var beginFailure: Failure?
  /// Thrown by the append that would exceed `capacity`.
  package var appendFailure = Failure(.diskFull, "the disk is full")
  package var capacity: Int64 = .max
  /// Thrown by `finish`.
  package var finishFailure: Failure?

  /// What `beginBody` was told, in order.
  package private(set) var expectedSizes: [Int64?] = []
  package private(set) var abandonedCount = 0
  private var bodies: [Int: [UInt8]] = [:]
  private var lastID = 0

  package init() {}

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    if let beginFailure { throw beginFailure }
    expectedSizes.append(plan.expectedSize)
    return try MemorySink(self, alsoHashing: plan.algorithms)
  }

  package func withBytes<Result>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    guard let bytes = bodies[body.id] else { throw Fault.unknownBody(body.id) }
    return unsafe try read(bytes.span.bytes)
  }

  package func discard(_ body: StagedBody) {
    bodies[body.id] = nil
  }

  /// The bytes of a finished body, empty for one that was discarded.
  package func bytes(of body: StagedBody) -> [UInt8] {
    bodies[body.id] ?? []
  }

  /// Nil for one that is unknown, discarded included.
  func bytes(ofFinished body: StagedBody) -> [UInt8]? {
    bodies[body.id]
  }

  /// Bodies that are finished and not discarded.
  package var bodyCount: Int {
    bodies.count
  }

  fileprivate func keep(_ bytes: [UInt8], _ digests: BodyDigests) -> StagedBody {
    lastID += 1
    bodies[lastID] = bytes
    return StagedBody(
      id: lastID,
      digest: digests.sha256,
      size: Int64(bytes.count),
      otherDigests: digests.others
    )
  }

  fileprivate func noteAbandoned() {
    abandonedCount += 1
  }
}

private final class MemorySink: BodySink {
  private let staging: MemoryStaging
  private let hasher: BodyHasher
  private var bytes: [UInt8] = []
  private var isOpen = true

  init(_ staging: MemoryStaging, alsoHashing algorithms: Set<DigestAlgorithm>) throws(Failure) {
    self.staging = staging
    hasher = try BodyHasher(alsoHashing: algorithms)
  }

  var size: Int64 {
    Int64(bytes.count)
  }

  func append(_ bytes: RawSpan) throws(Failure) {
    guard size + Int64(bytes.byteCount) <= staging.capacity else { throw staging.appendFailure }
    hasher.update(bytes)
    unsafe bytes.withUnsafeBytes { unsafe self.bytes.append(contentsOf: $0) }
  }

  func finish() throws(Failure) -> StagedBody {
    if let failure = staging.finishFailure { throw failure }
    guard isOpen else { throw Failure(.internal, "the body is closed already") }
    isOpen = false
    return staging.keep(bytes, hasher.finish())
  }

  func suspend() -> PartialBody? {
    abandon()
    return nil
  }

  func abandon() {
    guard isOpen else { return }
    isOpen = false
    staging.noteAbandoned()
  }
}
