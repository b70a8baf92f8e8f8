package import PrefetchCore
internal import PrefetchCrypto

/// Staged bodies in memory on a disk that can be made to fail; safe for all threads.
package final class MemoryStaging: BodyStaging, Sendable {
  package enum Fault: Error {
    case unknownBody(Int)
  }

  /// Contents of the simulated disk, and its failures.
  fileprivate struct State: Sendable {
    var beginFailure: Failure?
    var appendFailure = Failure(.diskFull, "the disk is full")
    var capacity = Int64.max
    var finishFailure: Failure?
    var expectedSizes: [Int64?] = []
    var abandonedCount = 0
    var bodies: [Int: [UInt8]] = [:]
    var parts: [String: Part] = [:]
    var lastID = 0
  }

  fileprivate struct Part: Sendable {
    var bytes: [UInt8]
    var description: PartialBody
  }

  private let state = Guarded(State())

  package init() {}

  // MARK: A disk that fails

  /// Failure that `beginBody` throws.
  package var beginFailure: Failure? {
    get { state.withLock(\.beginFailure) }
    set { state.withLock { $0.beginFailure = newValue } }
  }

  /// Failure of the append that would exceed `capacity`.
  package var appendFailure: Failure {
    get { state.withLock(\.appendFailure) }
    set { state.withLock { $0.appendFailure = newValue } }
  }

  package var capacity: Int64 {
    get { state.withLock(\.capacity) }
    set { state.withLock { $0.capacity = newValue } }
  }

  /// Failure that `finish` throws.
  package var finishFailure: Failure? {
    get { state.withLock(\.finishFailure) }
    set { state.withLock { $0.finishFailure = newValue } }
  }

  // MARK: Bodies

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    let kept = state.withLock { $0.begin(plan) }
    return try MemorySink(self, plan, kept: try kept.get())
  }

  package func withBytes<Result>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    guard let bytes = bytes(ofFinished: body) else { throw Fault.unknownBody(body.id) }
    return unsafe try read(bytes.span.bytes)
  }

  package func discard(_ body: StagedBody) {
    state.withLock { $0.bodies[body.id] = nil }
  }

  package func forgetPartial(_ key: String) {
    state.withLock { $0.parts[key] = nil }
  }

  // MARK: What a test asks

  /// Expected sizes that `beginBody` received, in order.
  package var expectedSizes: [Int64?] {
    state.withLock(\.expectedSizes)
  }

  package var abandonedCount: Int {
    state.withLock(\.abandonedCount)
  }

  /// Partial bodies by their keys.
  package var partials: [String: PartialBody] {
    state.withLock { $0.parts.mapValues(\.description) }
  }

  /// Returns the bytes of a finished body; empty after it was discarded.
  package func bytes(of body: StagedBody) -> [UInt8] {
    bytes(ofFinished: body) ?? []
  }

  /// Returns the bytes of a finished body; nil when it is unknown or discarded.
  func bytes(ofFinished body: StagedBody) -> [UInt8]? {
    state.withLock { $0.bodies[body.id] }
  }

  /// Number of finished bodies that were not discarded.
  package var bodyCount: Int {
    state.withLock { $0.bodies.count }
  }

  // MARK: For sinks

  fileprivate func keep(_ bytes: [UInt8], _ digests: BodyDigests, _ plan: BodyPlan) -> StagedBody {
    let id = state.withLock { state in
      state.lastID += 1
      if plan.keepsBytes { state.bodies[state.lastID] = bytes }
      return state.lastID
    }
    return StagedBody(
      id: id,
      digest: digests.sha256,
      size: Int64(bytes.count),
      otherDigests: digests.others
    )
  }

  fileprivate func suspend(_ bytes: [UInt8], _ plan: BodyPlan) -> PartialBody? {
    guard let key = plan.partialKey, var part = plan.partToKeep, !bytes.isEmpty else { return nil }
    part.offset = Int64(bytes.count)
    let description = part
    state.withLock { $0.parts[key] = Part(bytes: bytes, description: description) }
    return description
  }

  fileprivate func countAbandoned() {
    state.withLock { $0.abandonedCount += 1 }
  }
}

extension MemoryStaging.State {
  /// Returns the bytes that a body begins with.
  ///
  /// A writer that continues a part takes it; a writer that starts again drops it.
  fileprivate mutating func begin(_ plan: BodyPlan) -> Result<[UInt8], Failure> {
    if let beginFailure { return .failure(beginFailure) }
    expectedSizes.append(plan.expectedSize)
    guard let key = plan.partialKey else { return .success([]) }
    let part = parts.removeValue(forKey: key)
    guard let offset = plan.givenPart?.offset, offset > 0 else { return .success([]) }
    guard let part, part.description.offset == offset,
      part.description.validator == plan.givenPart?.validator
    else {
      return .failure(Failure(.storeDamaged, "no part of `\(key)` is kept as described"))
    }
    return .success(part.bytes)
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
    let bytes = bytes
    var body = staging.keep(bytes, hasher.finish(), plan)
    unsafe body.inspect(bytes.span.bytes, for: plan.algorithms.filter { !$0.isOfBytes })
    body.prefix = Array(bytes.prefix(plan.prefixLength))
    return body
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
    staging.countAbandoned()
  }
}
