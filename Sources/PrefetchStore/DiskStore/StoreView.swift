internal import Glibc
package import PrefetchCore
internal import Synchronization

/// What is stored, looked up again and again while others write.
///
/// What was made of an item once is remembered until the files of the index change.
package final class StoreView<Answer: Sendable>: Sendable {
  private let path: String
  private let lower: LowerCaches?
  private let isWriter: Bool
  private let make: @Sendable (StoreEntry) -> Answer?
  private let known = VerifiedFiles()
  private let lookups = Mutex(Lookups())

  /// A process that also writes the index, at whatever place, says so: it may not open it in a way
  /// that takes no locks.
  package init(
    cache path: String,
    below lower: LowerCaches?,
    besideOwnWriters isWriter: Bool,
    _ make: @escaping @Sendable (StoreEntry) -> Answer?
  ) {
    self.path = path
    self.lower = lower
    self.isWriter = isWriter
    self.make = make
    if isWriter { DatabaseFile.hasOwnWriters.store(true, ordering: .relaxed) }
  }

  /// The first of some URLs that is stored; `name` stands for them all.
  package func answer(
    to name: String,
    _ urls: @escaping @Sendable () -> [String]
  ) throws(Failure) -> Answer? {
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

  /// Nil where there is none, or more than one.
  package func answer(provider: String?, id: String) throws(Failure) -> Answer? {
    try find(.item(provider, id)) { store throws(Failure) in
      let records = try store.records(provider: provider, id: id)
      return records.count == 1 ? records[0] : nil
    }
  }

  /// Lets go of the index, so that writers may tidy it up.
  package func rest() {
    lookups.withLock { lookups in
      if !isWriter { lookups.store = nil }
    }
  }

  /// Ends its use; a writer tidies up as others do.
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

  /// What was found before may no longer be so.
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
    var found: [Name: Answer?] = [:]
    var stamp: IndexStamp?
    var readAt = ContinuousClock.now
  }

  private typealias Search = @Sendable (DiskStore) throws(Failure) -> ContentRecord?

  private func find(_ name: Name, _ search: Search) throws(Failure) -> Answer? {
    let found: Result<Answer?, Failure> = lookups.withLock { lookups in
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
  ) throws(Failure) -> Answer? {
    let stamp = IndexStamp(of: path)
    if stamp != lookups.stamp || lookups.readAt.duration(to: .now) > trust(in: stamp) {
      lookups.found = [:]
      // A file that stands still was opened as one that never changes.
      if !isWriter || stamp?.file?.inode != lookups.stamp?.file?.inode { lookups.store = nil }
      lookups.stamp = stamp
      lookups.readAt = .now
    }
    if let answer = lookups.found[name] { return answer }
    if lookups.store == nil { lookups.store = try open() }
    let answer = try lookups.store.flatMap { store throws(Failure) in try read(search, store) }
    if lookups.found.count >= Self.most { lookups.found = [:] }
    lookups.found[name] = .some(answer)
    // A writer waits for readers before it shortens its log.
    if !isWriter, stamp?.log != nil { lookups.store = nil }
    return answer
  }

  /// Two changes within one tick of a file's clock look like one.
  private func trust(in stamp: IndexStamp?) -> Duration {
    // What is read of lower caches alone is a copy, which is not made for each question.
    guard let stamp else { return lower == nil ? .zero : .seconds(1) }
    return stamp.isYoung ? .milliseconds(50) : .seconds(60)
  }

  private static var most: Int { 4_096 }

  private func read(_ search: Search, _ store: DiskStore) throws(Failure) -> Answer? {
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

/// One stored item, who holds it, and where its body is.
package struct StoreEntry: Sendable {
  package var record: ContentRecord
  package var holders: [SegmentKey]
  package var shelf: BodyShelf
}

/// The files of an index as they are at one moment.
struct IndexStamp: Equatable {
  let file: FileStatus?
  let log: FileStatus?

  /// Nil where there is no index.
  init?(of path: String) {
    file = Self.status("\(path)/\(CacheLayout.indexName)")
    log = Self.status("\(path)/\(CacheLayout.indexName)-wal")
    if file == nil, log == nil { return nil }
  }

  static func status(_ path: String) -> FileStatus? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? FileStatus(status) : nil
  }

  /// Whether it could change again without a trace in its times.
  var isYoung: Bool {
    FileAge.nanoseconds(since: max(file?.changed ?? 0, log?.changed ?? 0)) < 100_000_000
  }
}
