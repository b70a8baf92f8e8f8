package import PrefetchCore

/// A content store in memory, which keeps the same promises as the one on disk.
package final class MemoryStore: ContentStore {
  /// Thrown by commits from this one on, counted from 1.
  package var failsFromCommit = Int.max
  package var commitFailure = Failure(.diskFull, "the disk is full")
  /// Objects that the file system has lost.
  package var lost: Set<ContentDigest> = []
  package private(set) var commitCount = 0
  package let staging = MemoryStaging()

  private var content = Content()

  package init() {}

  // MARK: Bodies

  package func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    try staging.beginBody(plan)
  }

  package func partials() throws(Failure) -> [String: PartialBody] {
    staging.partials
  }

  package func forgetPartial(_ key: String) {
    staging.forgetPartial(key)
  }

  package func withBytes<Result>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    try staging.withBytes(of: body, read)
  }

  package func discard(_ body: StagedBody) {
    staging.discard(body)
  }

  package func withObject<Result>(
    _ digest: ContentDigest,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    guard let bytes = content.objects[digest], !lost.contains(digest) else {
      throw Failure(.storeDamaged, "the stored body `\(digest)` is missing")
    }
    return unsafe try read(bytes.span.bytes)
  }

  // MARK: Index

  package func inventory() throws(Failure) -> Inventory {
    let records = content.records.values.sorted { Inventory.precedes($0.url, $1.url) }
    let keys = content.members.keys.sorted()
    return Inventory(
      records: records,
      holders: records.map { record in
        keys.indices.filter { content.members[keys[$0]]?.contains(record.url) == true }
      },
      segmentKeys: keys
    )
  }

  package func segments() throws(Failure) -> [SegmentRecord] {
    content.segments.values.sorted { $0.key < $1.key }
  }

  package func missingObjects(of inventory: Inventory) throws(Failure) -> Set<ContentDigest> {
    let manifests = content.segments.values.compactMap(\.manifest)
    return lost.intersection(inventory.records.compactMap(\.digest) + manifests)
  }

  package func commit(_ changes: [StoreChange]) throws(Failure) -> [RemovedContent] {
    commitCount += 1
    guard commitCount < failsFromCommit else { throw commitFailure }
    var next = content
    for change in changes {
      if let body = change.body {
        guard let bytes = staging.bytes(ofFinished: body) else {
          throw Failure(.internal, "there is no staged body \(body.id)")
        }
        next.objects[body.digest] = bytes
        lost.remove(body.digest)
      }
      try next.apply(change)
    }
    let removed = next.removed
    next.removed = []
    next.dropUnnamedObjects()
    content = next
    for body in changes.compactMap(\.body) { staging.discard(body) }
    return removed
  }
}

/// Everything a store holds, as one value: a commit works on a copy and replaces it, or does not.
private struct Content {
  var records: [String: ContentRecord] = [:]
  var members: [SegmentKey: Set<String>] = [:]
  var segments: [SegmentKey: SegmentRecord] = [:]
  var objects: [ContentDigest: [UInt8]] = [:]
  var removed: [RemovedContent] = []

  mutating func apply(_ change: StoreChange) throws(Failure) {
    switch change {
    case .record(var record, let body):
      record.digest = body?.digest ?? record.digest
      record.size = body?.size ?? record.size
      if let digest = record.digest, objects[digest] == nil {
        throw Failure(.storeDamaged, "no stored body `\(digest)` for `\(record.url)`")
      }
      records[record.url] = record
    case .join(let key, let urls):
      for url in urls {
        guard records[url] != nil else { throw Failure(.internal, "`\(url)` has no record") }
        members[key, default: []].insert(url)
        if segments[key] == nil { segments[key] = SegmentRecord(key: key) }
      }
    case .leave(let key, let urls):
      leave(key, urls)
    case .segment(var record, let manifest):
      record.manifest = manifest?.digest ?? record.manifest
      segments[record.key] = record
      members[record.key] = members[record.key] ?? []
    case .forget(let key):
      leave(key, members[key]?.sorted() ?? [])
      segments[key] = nil
      members[key] = nil
    }
  }

  private mutating func leave(_ key: SegmentKey, _ urls: [String]) {
    for url in urls where members[key]?.remove(url) != nil {
      guard !members.values.contains(where: { $0.contains(url) }),
        let record = records.removeValue(forKey: url)
      else { continue }
      removed.append(RemovedContent(url: url, id: record.id, size: record.size))
    }
  }

  mutating func dropUnnamedObjects() {
    let named = Set(records.values.compactMap(\.digest) + segments.values.compactMap(\.manifest))
    objects = objects.filter { named.contains($0.key) }
  }
}
