import Glibc
import PrefetchCore
import PrefetchStore
import PrefetchTestSupport

/// A temporary folder with a cache for one test.
final class TemporaryCache {
  private let folder: TemporaryDirectory

  init(below parent: String? = nil) throws {
    folder = try TemporaryDirectory(in: parent)
  }

  var path: String {
    folder.path
  }

  var cache: String {
    path + "/cache"
  }

  /// Opens the cache, runs the body, and ends the run.
  func run(
    at start: Instant = Instant(seconds: 4_000_000_000),
    _ body: (DiskStore) throws -> Void
  ) throws {
    let store = try DiskStore.openForWriting(cache: cache, clockStart: start)
    try body(store)
    try store.finishRun()
  }

  func reader() throws -> DiskStore? {
    try DiskStore.openForReading(cache: cache, clockStart: Instant(seconds: 0))
  }
}

/// Reads and writes file trees outside the store.
enum FileTree {
  /// Returns every name below a folder with the facts that a write would change.
  static func listing(_ path: String) -> [String: [Int64]] {
    var found: [String: [Int64]] = [:]
    for name in names(path) {
      let child = path + "/" + name
      guard let status = status(child) else { continue }
      found[child] = [
        Int64(status.st_ino), Int64(status.st_size), Int64(status.st_mode),
        Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
      ]
      guard status.st_mode & S_IFMT == S_IFDIR else { continue }
      found.merge(listing(child)) { first, _ in first }
    }
    return found
  }

  static func names(_ path: String) -> [String] {
    guard let stream = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    // In place: an entry is shorter than its type, and a copy would read past the last of them.
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." {
        names.append(name)
      }
    }
    return names.sorted()
  }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  static func exists(_ path: String) -> Bool {
    status(path) != nil
  }

  /// Returns this process's descriptor of a file.
  static func descriptor(of path: String) -> Int32? {
    var wanted = stat()
    guard unsafe stat(path, &wanted) == 0 else { return nil }
    return names("/proc/self/fd").compactMap { Int32($0) }.first { number in
      var status = stat()
      guard unsafe fstat(number, &status) == 0 else { return false }
      return status.st_ino == wanted.st_ino && status.st_dev == wanted.st_dev
    }
  }

  static func remove(_ path: String) {
    guard let status = status(path) else { return }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      unsafe unlink(path)
      return
    }
    unsafe chmod(path, 0o700)
    for name in names(path) {
      remove(path + "/" + name)
    }
    unsafe rmdir(path)
  }

  static func read(_ path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe Glibc.read(file, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  /// Replaces a file, even a read-only one.
  static func write(_ bytes: [UInt8], to path: String) {
    unsafe unlink(path)
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = unsafe Glibc.write(file, bytes, bytes.count)
  }

  static func makeFolder(_ path: String) {
    unsafe mkdir(path, 0o755)
  }

  static func copy(_ source: String, to target: String) {
    makeFolder(target)
    for name in names(source) {
      let child = source + "/" + name
      if let status = status(child), status.st_mode & S_IFMT == S_IFDIR {
        copy(child, to: target + "/" + name)
      } else if let bytes = read(child) {
        write(bytes, to: target + "/" + name)
      }
    }
  }

  /// Makes a folder tree writable, or writable for root only.
  static func setWritable(_ isWritable: Bool, _ path: String) {
    for (child, facts) in listing(path) {
      let isFolder = mode_t(facts[2]) & S_IFMT == S_IFDIR
      unsafe chmod(child, isFolder ? (isWritable ? 0o755 : 0o555) : (isWritable ? 0o644 : 0o444))
    }
    unsafe chmod(path, isWritable ? 0o755 : 0o555)
  }
}

extension ContentStore {
  func stage(_ bytes: [UInt8]) throws -> StagedBody {
    let sink = try beginBody(BodyPlan())
    try sink.append(unsafe bytes.span.bytes)
    return try sink.finish()
  }

  func stage(_ text: String) throws -> StagedBody {
    try stage(Array(text.utf8))
  }

  func text(of digest: ContentDigest) throws -> String {
    try withObject(digest) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Returns all records, ordered by the bytes of their URLs.
  func records() throws -> [ContentRecord] {
    try stored(readInventory().rows.map(\.item)).compactMap { $0?.record }
      .sorted { $0.url.utf8.lexicographicallyPrecedes($1.url.utf8) }
  }

  /// Returns the segments of each URL as indices into the inventory's segments.
  func holders(_ urls: [String]) throws -> [[Int]?] {
    let inventory = try readInventory()
    return urls.map { inventory.position(of: $0).map(inventory.holders(of:)) }
  }

  func lockedURLs() throws -> [String] {
    let locked = try readInventory().rows.filter(\.isLocked)
    return try stored(locked.map(\.item)).compactMap { $0?.url }
  }

  @discardableResult
  func leave(_ key: SegmentKey, _ urls: [String]) throws -> [RemovedContent] {
    let inventory = try readInventory()
    let items = urls.compactMap { inventory.position(of: $0) }.map { inventory.rows[$0].item }
    return try commit([.leave(key, items: items)])
  }

  func missing() throws -> Set<ContentDigest> {
    try missingObjects(of: readInventory())
  }

  /// Stores bodies under URLs and adds them to a segment.
  func put(_ contents: KeyValuePairs<String, String>, in key: SegmentKey?) throws {
    var changes: [StoreChange] = []
    for (url, text) in contents {
      changes.append(.store(.cached(url), body: try stage(text), joining: []))
    }
    if let key {
      changes.append(.joinNew(key, urls: contents.map(\.key)))
    }
    _ = try commit(changes)
  }
}

extension ContentRecord {
  static func cached(_ url: String) -> ContentRecord {
    var record = ContentRecord(url: url, id: "id-" + url)
    record.state = .cached
    return record
  }
}

extension SegmentKey {
  static let basics = SegmentKey(identity: "home", name: "basics")
  static let extras = SegmentKey(identity: "home", name: "extras")
  static let other = SegmentKey(identity: "work", name: "basics")
}
