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
  private var parts: [String: Part] = [:]
  private var lastID = 0

  private struct Part {
    var bytes: [UInt8]
    var description: PartialBody
  }

  package init() {}

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    if let beginFailure { throw beginFailure }
    expectedSizes.append(plan.expectedSize)
    return try MemorySink(self, plan, kept: try keptBytes(plan))
  }

  /// What is kept under each key.
  package var partials: [String: PartialBody] {
    parts.mapValues(\.description)
  }

  package func forgetPartial(_ key: String) {
    parts[key] = nil
  }

  /// A part is taken out by whoever continues it, and replaced by whoever begins anew.
  private func keptBytes(_ plan: BodyPlan) throws(Failure) -> [UInt8] {
    guard let key = plan.partialKey else { return [] }
    let part = parts.removeValue(forKey: key)
    guard let offset = plan.partial?.offset, offset > 0 else { return [] }
    guard let part, part.description.offset == offset,
      part.description.validator == plan.partial?.validator
    else { throw Failure(.storeDamaged, "no part of `\(key)` is kept as described") }
    return part.bytes
  }

  fileprivate func suspend(_ bytes: [UInt8], _ plan: BodyPlan) -> PartialBody? {
    guard let key = plan.partialKey, var part = plan.partial, !bytes.isEmpty else { return nil }
    part.offset = Int64(bytes.count)
    parts[key] = Part(bytes: bytes, description: part)
    return part
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
  private let plan: BodyPlan
  private let hasher: BodyHasher
  private var bytes: [UInt8]
  private var isOpen = true

  init(_ staging: MemoryStaging, _ plan: BodyPlan, kept bytes: [UInt8]) throws(Failure) {
    self.staging = staging
    self.plan = plan
    self.bytes = bytes
    hasher = try BodyHasher(alsoHashing: plan.algorithms)
    unsafe hasher.update(bytes.span.bytes)
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
    guard isOpen, let part = staging.suspend(bytes, plan) else {
      abandon()
      return nil
    }
    isOpen = false
    return part
  }

  func abandon() {
    guard isOpen else { return }
    isOpen = false
    staging.noteAbandoned()
  }
}
