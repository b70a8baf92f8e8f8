internal import Glibc
package import PrefetchCore
internal import Synchronization

/// Lookups of stored items beside writers; results are cached until the index changes.
package final class StoreView<Value: Sendable>: Sendable {
  private let path: String
  private let lower: LowerCaches?
  private let isWriter: Bool
  private let make: @Sendable (StoreEntry) -> Value?
  private let known = VerifiedFiles()
  private let lookups = Mutex(Lookups())

  /// Makes a view; a process that also writes the index may not open it without locks.
  package init(
    cache path: String,
    below lower: LowerCaches?,
    hasOwnWriters isWriter: Bool,
    _ make: @escaping @Sendable (StoreEntry) -> Value?
  ) {
    self.path = path
    self.lower = lower
    self.isWriter = isWriter
    self.make = make
    if isWriter { DatabaseFile.hasOwnWriters.store(true, ordering: .relaxed) }
  }

  /// Returns the first stored item of some URLs; `name` is the key of the cached result.
  package func findFirst(
    _ name: String,
    _ urls: @escaping @Sendable () -> [String]
  ) throws(Failure) -> Value? {
    try find(.address(name)) { store throws(Failure) in
      for url in urls() {
        if let record = try store.record(url: url), record.digest != nil { return record }
      }
      for url in urls() {
        let ads = try store.ads(ofTag: url)
        if ads.count == 1, ads[0].digest != nil { return ads[0] }
      }
      return nil
    }
  }

  /// Returns nil when no item matches, and when several do.
  package func find(provider: String?, id: String) throws(Failure) -> Value? {
    try find(.item(provider, id)) { store throws(Failure) in
      let records = try store.records(provider: provider, id: id)
      return records.count == 1 ? records[0] : nil
    }
  }

  /// Closes the index of a read-only view, so that writers may tidy it up.
  package func rest() {
    lookups.withLock { lookups in
      if !isWriter { lookups.store = nil }
    }
  }

  package func close() throws(Failure) {
    let fault: Failure? = lookups.withLock { lookups in
      defer { lookups.store = nil }
      do throws(Failure) {
        try lookups.store?.close()
        return nil
      } catch {
        return error
      }
    }
    if let fault { throw fault }
  }

  package func forget() {
    lookups.withLock { lookups in
      lookups.found = [:]
      if !isWriter { lookups.store = nil }
    }
  }

  // MARK: Looking up

  private enum Name: Hashable {
    case address(String)
    case item(String?, String)
  }

  private struct Lookups {
    var store: DiskStore?
    var found: [Name: Value?] = [:]
    var stamp: IndexStamp?
    var readAt = ContinuousClock.now
  }

  private typealias Search = @Sendable (DiskStore) throws(Failure) -> ContentRecord?

  private func find(_ name: Name, _ search: Search) throws(Failure) -> Value? {
    let found: Result<Value?, Failure> = lookups.withLock { lookups in
      do throws(Failure) {
        return .success(try find(name, search, &lookups))
      } catch {
        lookups.store = nil
        return .failure(error)
      }
    }
    return try found.get()
  }

  private func find(
    _ name: Name,
    _ search: Search,
    _ lookups: inout Lookups
  ) throws(Failure) -> Value? {
    let stamp = IndexStamp(of: path)
    if stamp != lookups.stamp || lookups.readAt.duration(to: .now) > trust(in: stamp) {
      lookups.found = [:]
      // An unchanging index was opened as immutable and has to be opened again.
      if !isWriter || stamp?.file?.inode != lookups.stamp?.file?.inode { lookups.store = nil }
      lookups.stamp = stamp
      lookups.readAt = .now
    }
    if let value = lookups.found[name] { return value }
    if lookups.store == nil { lookups.store = try open() }
    let value = try lookups.store.flatMap { store throws(Failure) in try read(search, store) }
    if lookups.found.count >= Self.most { lookups.found = [:] }
    lookups.found[name] = .some(value)
    // A writer waits for readers before it shortens its log.
    if !isWriter, stamp?.log != nil { lookups.store = nil }
    return value
  }

  /// Returns how long a stamp holds: two changes within one tick of the file clock look like one.
  private func trust(in stamp: IndexStamp?) -> Duration {
    // Lower caches alone are read from an in-memory copy, too costly to make for each lookup.
    guard let stamp else { return lower == nil ? .zero : .seconds(1) }
    return stamp.isYoung ? .milliseconds(50) : .seconds(60)
  }

  private static var most: Int { 4_096 }

  private func read(_ search: Search, _ store: DiskStore) throws(Failure) -> Value? {
    guard let record = try search(store), record.digest != nil else { return nil }
    return make(
      StoreEntry(
        record: record,
        holders: try store.segmentsHolding(url: record.url),
        shelf: BodyShelf(store.layers, known)
      )
    )
  }

  private func open() throws(Failure) -> DiskStore? {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    let start = Instant(seconds: Int64(now.tv_sec))
    return isWriter
      ? try DiskStore.openForWriting(cache: path, below: lower, clockStart: start)
      : try DiskStore.openForReading(cache: path, below: lower, clockStart: start)
  }
}

package struct StoreEntry: Sendable {
  package var record: ContentRecord
  package var holders: [SegmentKey]
  package var shelf: BodyShelf
}

struct IndexStamp: Equatable {
  let file: FileStatus?
  let log: FileStatus?

  init?(of path: String) {
    file = Self.status("\(path)/\(CacheLayout.indexName)")
    log = Self.status("\(path)/\(CacheLayout.indexName)-wal")
    if file == nil, log == nil { return nil }
  }

  static func status(_ path: String) -> FileStatus? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? FileStatus(status) : nil
  }

  /// Whether the index could change again without a trace in its file times.
  var isYoung: Bool {
    FileAge.nanoseconds(since: max(file?.changed ?? 0, log?.changed ?? 0)) < 100_000_000
  }
}
