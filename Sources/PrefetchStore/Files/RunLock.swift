internal import CLinux
internal import Glibc
package import PrefetchCore
internal import PrefetchCrypto

/// Lock that one run of an identity holds.
package final class RunLock {
  package enum WaitLimit: Hashable, Sendable {
    case none
    case upTo(Duration)
    case unlimited
  }

  private let lock: ByteLocks
  private let folder: Folder
  let name: String

  private init(_ lock: ByteLocks, in folder: Folder, name: String) {
    self.lock = lock
    self.folder = folder
    self.name = name
  }

  /// Removes the file while it is locked, since every identity has one.
  deinit {
    _ = try? folder.remove(name)
  }

  /// Returns nil when another process holds the lock until the wait ends.
  package static func acquire(
    cache: String,
    identity: String,
    wait limit: WaitLimit = .none,
    isCancelled: () -> Bool = { false }
  ) throws(Failure) -> RunLock? {
    let root = try Folder.making(cache, mode: 0o700)
    let clock = ContinuousClock()
    let end: ContinuousClock.Instant? =
      switch limit {
      case .none: clock.now
      case .upTo(let duration): clock.now + duration
      case .unlimited: nil
      }
    let name = name(of: identity)
    let folder = try root.makingFolder(CacheLayout.locksName).0
    while true {
      let file = try folder.openLock(name)
      let own = ByteLocks(file)
      while try !own.acquire(0..<1) {
        if let end, clock.now >= end { return nil }
        guard !isCancelled() else { return nil }
        // A short pause, since a wait in the kernel has no timeout.
        poll(nil, 0, 20)
      }
      // The previous run may have removed the file.
      guard try folder.status(of: name)?.isSameFile(as: file.status()) == true else { continue }
      try write("\(getpid()) \(now)\n", in: file)
      return RunLock(own, in: folder, name: name)
    }
  }

  /// Returns the process that runs as an identity, for messages; nil when none does.
  package static func holder(cache: String, identity: String) throws(Failure) -> Int? {
    guard let root = try Folder(at: cache),
      let folder = try root.folder(CacheLayout.locksName)
    else { return nil }
    return try words(of: name(of: identity), in: folder).first.map { Int($0) }
  }

  package static func isHeld(cache: String, identity: String) throws(Failure) -> Bool {
    guard let root = try Folder(at: cache),
      let folder = try root.folder(CacheLayout.locksName),
      let file = try folder.openExisting(name(of: identity), O_RDWR)
    else { return false }
    return ByteLocks(file).isLockedElsewhere(0..<1)
  }

  /// Returns the start of the oldest active run apart from `own`; nil when there is none.
  static func oldestRun(in root: Folder, excluding own: RunLock?) throws(Failure) -> Instant? {
    guard let folder = try root.folder(CacheLayout.locksName) else { return nil }
    var oldest: Instant?
    for name in try folder.names() where name != own?.name && name.utf8.count == nameLength {
      guard let file = try folder.openExisting(name, O_RDWR),
        ByteLocks(file).isLockedElsewhere(0..<1)
      else {
        continue
      }
      // A run without a recorded start has just begun.
      let words = try words(of: name, in: folder)
      let start = Instant(milliseconds: words.count > 1 ? words[1] : now)
      oldest = min(oldest ?? start, start)
    }
    return oldest
  }

  /// Milliseconds since 1970, the clock by which starts of runs are compared.
  static var now: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static let nameLength = 32

  private static func name(of identity: String) -> String {
    String(SHA256.digest(naming: identity).hexadecimal.prefix(nameLength))
  }

  private static func words(of name: String, in folder: Folder) throws(Failure) -> [Int64] {
    guard let file = try folder.openExisting(name, O_RDONLY) else { return [] }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = try file.read(into: &buffer, at: 0)
    return buffer[..<count].split { !ASCII.isDigit($0) }.compactMap {
      Int64(String(decoding: $0, as: UTF8.self))
    }
  }

  private static func write(_ text: String, in file: OpenFile) throws(Failure) {
    try SystemCall.require("empty", file.path) { ftruncate(file.number, 0) }
    let bytes = Array(text.utf8)
    try file.write(unsafe bytes.span.bytes)
  }
}
