package import PrefetchCore

package struct ImportSummary: Hashable, Sendable {
  package struct LeftOut: Hashable, Sendable {
    package var url: String
    package var failure: Failure
  }

  package var items = 0
  package var bytes: Int64 = 0
  package var known = 0
  package var leftOut: [LeftOut] = []

  package init() {}
}

/// Limits and checks that apply to the items of another cache.
package struct ImportTerms {
  package var limit: Int64?
  package var fileLimit: Int64
  package var algorithms: (String) -> Set<DigestAlgorithm>
  /// Returns why a body is not the one declared for a URL; nil accepts the body.
  package var objection: (String, StagedBody) -> Failure?
  package var isCancelled: () -> Bool

  package init(
    limit: Int64?,
    fileLimit: Int64,
    algorithms: @escaping (String) -> Set<DigestAlgorithm>,
    objection: @escaping (String, StagedBody) -> Failure?,
    isCancelled: @escaping () -> Bool
  ) {
    self.limit = limit
    self.fileLimit = fileLimit
    self.algorithms = algorithms
    self.objection = objection
    self.isCancelled = isCancelled
  }
}

extension DiskStore {
  /// Opens the cache of another machine read-only; returns nil when there is none.
  package static func openForeign(
    _ path: String,
    clockStart: Instant
  ) throws(Failure) -> DiskStore? {
    guard let store = try openLower(path, clockStart: clockStart) else { return nil }
    _ = try store.segments()
    for problem in store.diagnostics where problem.code == "store.older" {
      throw Failure(.storeDamaged, problem.message)
    }
    return store
  }

  package func storedURLs() throws(Failure) -> [String] {
    let rows = try database().prepare("SELECT \(RecordRow.columns) FROM \(RecordRow.source)")
    var urls: [String] = []
    while try rows.step() {
      let record = try StoredRow(rows).whole()
      if record.state == .cached, record.digest != nil { urls.append(record.url) }
    }
    return urls
  }

  /// Copies the items of another cache; each body is hashed.
  ///
  /// Imported items belong to no segment until a run declares and revalidates them.
  package func importItems(
    from other: DiskStore,
    _ terms: ImportTerms
  ) throws(Failure) -> ImportSummary {
    var summary = ImportSummary()
    let rows = try other.database().prepare("SELECT \(RecordRow.columns) FROM \(RecordRow.source)")
    while try rows.step() {
      guard !terms.isCancelled() else { throw Failure(.cancelled, "stopped while importing") }
      let record = try StoredRow(rows).whole()
      guard record.state == .cached, record.digest != nil else { continue }
      guard try isNews(record) else {
        summary.known += 1
        continue
      }
      do throws(Failure) {
        summary.bytes += try importItem(record, from: other, terms)
        summary.items += 1
      } catch {
        // An error of this disk would meet every item.
        guard error.code != .diskFull, error.code != .cancelled else { throw error }
        summary.leftOut.append(ImportSummary.LeftOut(url: record.url, failure: error))
      }
    }
    return summary
  }

  private func isNews(_ record: ContentRecord) throws(Failure) -> Bool {
    guard let here = try self.record(url: record.url) else { return true }
    // A pause by the user stands.
    guard here.state != .paused else { return false }
    guard let digest = here.digest, try intactObject(digest) != nil else { return true }
    for file in here.otherFiles where !file.isReserved {
      if try intactObject(file.digest) == nil { return true }
    }
    if digest == record.digest, Set(here.otherFiles) == Set(record.otherFiles) { return false }
    guard let known = here.validatedAt ?? here.fetchedAt else { return true }
    return (record.validatedAt ?? record.fetchedAt).map { $0 > known } ?? false
  }

  private func importItem(
    _ given: ContentRecord,
    from other: DiskStore,
    _ terms: ImportTerms
  ) throws(Failure) -> Int64 {
    var record = given
    record.files.removeAll(where: \.isReserved)
    var bodies: [StagedBody] = []
    do throws(Failure) {
      try stage(&record, from: other, terms, into: &bodies)
      record.loseFreshness(at: clockStart)
      let change = StoreChange.store(
        record,
        body: bodies[0],
        otherBodies: Array(bodies.dropFirst()),
        joining: []
      )
      _ = try commit([change], within: terms.limit)
    } catch {
      for body in bodies { discard(body) }
      throw error
    }
    return bodies.reduce(0) { $0 + $1.size }
  }

  private func stage(
    _ record: inout ContentRecord,
    from other: DiskStore,
    _ terms: ImportTerms,
    into bodies: inout [StagedBody]
  ) throws(Failure) {
    var wanted: [(digest: ContentDigest, size: Int64)] = []
    if let digest = record.digest { wanted.append((digest, record.size)) }
    var seen = Set(wanted.map(\.digest))
    for file in record.otherFiles where seen.insert(file.digest).inserted {
      wanted.append((file.digest, file.size))
    }
    for (number, want) in wanted.enumerated() {
      guard let file = try other.layers.open(want.digest) else {
        throw Failure(.corrupted, "its body is missing there")
      }
      let body = try stage(
        file,
        limit: terms.fileLimit,
        alsoHashing: number == 0 ? terms.algorithms(record.url) : []
      )
      bodies.append(body)
      guard body.digest == want.digest, body.size == want.size else {
        throw Failure(.corrupted, "its body there is damaged")
      }
      guard number == 0 else { continue }
      if let objection = terms.objection(record.url, body) { throw objection }
      // The other index states further digests, but this import has not verified them.
      record.otherDigests = body.otherDigests
    }
  }
}

extension ContentRecord {
  fileprivate mutating func loseFreshness(at now: Instant) {
    freshness = .declared(until: min(validatedAt ?? now, now))
    failure = nil
    isPassedThrough = false
  }
}
