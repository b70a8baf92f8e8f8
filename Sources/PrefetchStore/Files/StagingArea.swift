internal import CLinux
internal import Glibc
package import PrefetchCore
internal import PrefetchCrypto
internal import Synchronization

/// Bodies that readers cannot see yet, in files or in memory; several threads may use the area.
package final class StagingArea: BodyStaging, Sendable {
  private let medium: Medium
  private let mostOpenFiles: Int
  private let table = Mutex(Table())
  private let growing = Mutex(Growing())
  /// Whether parts may exist; true until the first look.
  private let hasParts = Atomic(true)
  private let freeSpace = FreeSpace()

  private enum Medium {
    case memory
    case disk(PartialFolder, ObjectFolder)
  }

  private struct Table {
    var files: [Int: StagedFile] = [:]
    var lastID = 0
    var openCount = 0
  }

  private struct Growing {
    var bodies: [ObjectIdentifier: GrowingBody] = [:]
    var timesFreed = 0
  }

  private init(_ medium: Medium, mostOpenFiles: Int = .max) {
    self.medium = medium
    self.mostOpenFiles = mostOpenFiles
  }

  package static func inMemory() -> StagingArea {
    StagingArea(.memory)
  }

  /// `descriptors` is the process's limit; bodies use a quarter at most.
  static func onDisk(
    _ partial: PartialFolder,
    objects: ObjectFolder,
    descriptors: Int
  ) -> StagingArea {
    StagingArea(.disk(partial, objects), mostOpenFiles: descriptors / 4)
  }

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    let hasher = try BodyHasher(alsoHashing: plan.algorithms)
    guard let kept = plan.givenPart, kept.offset > 0 else {
      return BodyFile(in: self, hasher: hasher, plan)
    }
    guard let key = plan.partialKey, case .disk(let partial, let objects) = medium else {
      throw Failure(.disk, "nothing is kept that could be continued", isTransient: true)
    }
    if let digest = kept.object {
      let body = BodyFile(in: self, hasher: hasher, plan)
      do throws(Failure) {
        try body.begin(with: digest, ofSize: kept.offset, in: objects)
      } catch {
        body.abandon()
        throw error
      }
      return body
    }
    let (part, extent) = try partial.parts.open(key, at: kept)
    var beginning = BodyBeginning()
    try part.replay(extent) { chunk in
      hasher.update(chunk)
      beginning.append(chunk)
    }
    return BodyFile(
      in: self,
      hasher: hasher,
      plan,
      continuing: part,
      at: extent,
      after: beginning
    )
  }

  package func withBytes<Value>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Value
  ) throws -> Value {
    try FileBytes.withBytes(of: open(body), read)
  }

  package func discard(_ body: StagedBody) {
    guard let staged = table.withLock({ Self.removeFile(body.id, from: &$0) }) else { return }
    if let part = staged.part { return part.remove() }
    guard let name = staged.name, case .disk(let partial, _) = medium else { return }
    // A file left behind is removed with the folder.
    _ = try? partial.names().remove(name)
  }

  func openFile() throws(Failure) -> StagedFile {
    switch medium {
    case .disk(let partial, _):
      let (file, name) = try partial.open()
      return StagedFile(file: file, name: name)
    case .memory:
      let number = SystemCall.number {
        unsafe prefetch_memfd_create("prefetch-body", Self.closeOnExec)
      }
      guard number >= 0 else { throw .system(-number, "create", "memory file") }
      return StagedFile(file: OpenFile(owning: number, path: "memory file"), name: nil)
    }
  }

  /// Makes a growing body outlive this process; returns nil when that is impossible.
  func keep(_ staged: StagedFile, key: String, as part: PartialBody) throws(Failure) -> KeptPart? {
    guard case .disk(let partial, _) = medium, let file = staged.file,
      let kept = partial.parts.keep(file, key: key, as: part)
    else { return nil }
    hasParts.store(true, ordering: .relaxed)
    if let name = staged.name {
      try partial.names().remove(name)
    }
    return kept
  }

  func forgetPart(_ key: String) {
    guard case .disk(let partial, _) = medium, hasParts.load(ordering: .relaxed) else { return }
    partial.parts.forget(key)
  }

  // MARK: Free space

  package func keepFree(_ bytes: Int64) {
    freeSpace.keep(bytes)
  }

  /// Returns the failure of a body that would take reserved space; then call ``endForSpace(_:_:)``.
  func shortage(writing bytes: Int, behind written: Int64, of size: Int64?) -> Failure? {
    guard case .disk(let partial, _) = medium else { return nil }
    return freeSpace.shortage(
      writing: bytes,
      behind: written,
      of: size,
      in: partial.folder
    )
  }

  /// Whether a body of which so many bytes are to come leaves the reserved space.
  func hasRoom(for bytes: Int64) -> Bool {
    guard case .disk(let partial, _) = medium else { return false }
    return freeSpace.hasRoom(for: bytes, in: partial.folder)
  }

  func endForSpace(_ written: Int64, _ remove: () -> Void = {}) {
    freeSpace.end(written, remove)
  }

  // MARK: A full disk

  /// Number of times that room was made; a writer reads it before writing.
  var timesFreed: Int {
    growing.withLock(\.timesFreed)
  }

  /// Evicts a part or, unless `keepsGrowing`, a growing body; returns false when nothing is left.
  func makeRoom(since timesFreed: Int, keepsGrowing: Bool = false) -> Bool {
    guard case .disk(let partial, _) = medium else { return false }
    return growing.withLock { growing in
      if growing.timesFreed != timesFreed { return true }
      if !partial.parts.evictLargest() {
        let largest = growing.bodies.max { $0.value.size < $1.value.size }
        guard !keepsGrowing, let largest else { return false }
        growing.bodies[largest.key] = nil
        largest.value.evict()
      }
      growing.timesFreed += 1
      return true
    }
  }

  func registerGrowing(_ file: OpenFile) -> GrowingBody? {
    guard case .disk = medium else { return nil }
    let body = GrowingBody(file)
    growing.withLock { $0.bodies[ObjectIdentifier(body)] = body }
    return body
  }

  /// Protects a body from truncation, unless truncated; `release` runs under the same lock.
  func endGrowing(_ body: GrowingBody, release: () -> Void = {}) -> Bool {
    growing.withLock { growing in
      growing.bodies[ObjectIdentifier(body)] = nil
      release()
      return !body.wasEvicted
    }
  }

  /// Frees the room of an unwanted body at once, though its descriptor is open.
  func dropGrowing(_ body: GrowingBody, _ remove: () -> Void) {
    growing.withLock { growing in
      growing.bodies[ObjectIdentifier(body)] = nil
      body.evict()
      remove()
      growing.timesFreed += 1
    }
  }

  func part(of key: String) -> PartialBody? {
    guard case .disk(let partial, _) = medium, let part = partial.parts.part(of: key) else {
      return nil
    }
    hasParts.store(true, ordering: .relaxed)
    return part
  }

  func parts() throws(Failure) -> [String: PartialBody] {
    guard case .disk(let partial, _) = medium else { return [:] }
    let parts = try partial.parts.all()
    hasParts.store(!parts.isEmpty, ordering: .relaxed)
    return parts
  }

  func register(_ staged: StagedFile) throws(Failure) -> Int {
    let (id, isCrowded) = table.withLock { table in
      table.lastID += 1
      table.files[table.lastID] = staged
      table.openCount += 1
      return (table.lastID, table.openCount > mostOpenFiles)
    }
    if isCrowded, case .disk(let partial, _) = medium {
      try closeFile(of: id, in: partial)
    }
    return id
  }

  func staged(_ body: StagedBody) throws(Failure) -> StagedFile {
    guard let staged = table.withLock({ $0.files[body.id] }) else {
      throw Failure(.internal, "body \(body.id) was discarded or committed before")
    }
    return staged
  }

  func open(_ body: StagedBody) throws(Failure) -> OpenFile {
    let staged = try staged(body)
    if let file = staged.file { return file }
    guard let name = staged.name, case .disk(let partial, _) = medium else {
      throw Failure(.internal, "body \(body.id) has neither file nor name")
    }
    return try partial.names().open(name, O_RDONLY)
  }

  /// Gives a body a name and closes its file, since descriptors are limited.
  private func closeFile(of id: Int, in partial: PartialFolder) throws(Failure) {
    guard let staged = table.withLock({ $0.files[id] }), let file = staged.file else { return }
    var name = staged.name
    if name == nil {
      let newName = RandomName.make("body-")
      if let part = staged.part {
        // Without its descriptor a part would lose its lock.
        try part.makeReadOnly()
        try part.move(to: newName, in: partial.names())
        return recordClosed(id, newName)
      }
      // An unnamed file that cannot be named has to stay open.
      guard try partial.names().link(file, as: newName) == 0 else { return }
      name = newName
    }
    recordClosed(id, name)
  }

  private func recordClosed(_ id: Int, _ name: String?) {
    table.withLock { table in
      table.files[id] = StagedFile(file: nil, name: name)
      table.openCount -= 1
    }
  }

  private static func removeFile(_ id: Int, from table: inout Table) -> StagedFile? {
    guard let staged = table.files.removeValue(forKey: id) else { return nil }
    if staged.file != nil {
      table.openCount -= 1
    }
    return staged
  }

  /// `MFD_CLOEXEC`.
  private static let closeOnExec: UInt32 = 1
}

/// Place of a finished body: an open file, a name, or both.
struct StagedFile: Sendable {
  var file: OpenFile?
  var name: String?
  var part: KeptPart?
}
