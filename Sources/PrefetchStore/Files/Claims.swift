internal import Glibc
internal import PrefetchCore

/// Claims of URLs: a locked byte of `CACHE/locks/claims` for each URL in flight.
///
/// A run that is alone locks all bytes at once. Another run that is refused touches the file; then
/// the first run keeps only the bytes of its own URLs.
final class Claims {
  private let file: OpenFile
  private let locks: ByteLocks
  private let userFile: CacheUserFile
  private var isAlone = false
  /// Change time of the file when this run last looked.
  private var touched: Int64 = 0
  private(set) var hasOtherRuns = false
  private var refusal = Wait()
  /// Number of claims of each byte: two URLs may share a byte.
  private var held: [Int64: Int] = [:]

  /// Byte whose lock allows writing to the index.
  private static let writerByte: Range<Int64> = 0..<1
  private static let everything: Range<Int64> = 1..<ByteLocks.end

  private let cache: String

  init(in root: Folder) throws(Failure) {
    cache = root.path
    let folder = try root.makingFolder(CacheLayout.locksName).0
    file = try folder.openLock(CacheLayout.claimsName)
    locks = ByteLocks(file)
    userFile = CacheUserFile(in: folder)
  }

  var otherUsers: [CacheUser] {
    CacheUser.others(in: userFile.folder)
  }

  /// Performs `body` as the only writer of the index; waits for other processes.
  func withWriterLock<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try WaitPolicy.wait(for: cache, usedBy: otherUsers) { () throws(Failure) in
      try locks.acquire(Self.writerByte)
    }
    defer { locks.release(Self.writerByte) }
    return try body()
  }

  // MARK: URLs

  /// Claims all bytes, if no other run is active; called when the run starts to send requests.
  func begin() throws(Failure) {
    userFile.tidy()
    touched = try file.status().changed
    isAlone = try locks.acquire(Self.everything)
    hasOtherRuns = !isAlone
    if hasOtherRuns { touch() }
  }

  func end() {
    locks.release(Self.everything)
    (isAlone, held) = (false, [:])
  }

  /// Returns whether another run has started; stays true afterwards.
  func look() throws(Failure) -> Bool {
    if !hasOtherRuns { hasOtherRuns = try file.status().changed != touched }
    return hasOtherRuns
  }

  /// Claims URLs and returns for each whether this run has it; releases all other bytes.
  func acquire(_ urls: [String]) throws(Failure) -> [Bool] {
    if isAlone {
      for url in urls { held[Self.byte(of: url), default: 0] += 1 }
      giveUpOthers()
      return urls.map { _ in true }
    }
    var granted: [Bool] = []
    var isRefused = false
    for url in urls {
      let byte = Self.byte(of: url)
      var isGranted = held[byte] != nil
      if !isGranted { isGranted = try locks.acquire(byte..<byte + 1) }
      if isGranted { held[byte, default: 0] += 1 }
      isRefused = isRefused || !isGranted
      granted.append(isGranted)
    }
    if isRefused {
      touch()
      refusal.reportOnce(for: urls.first ?? cache, usedBy: { otherUsers })
    } else {
      refusal = Wait()
    }
    return granted
  }

  func release(_ urls: [String]) {
    for url in urls {
      let byte = Self.byte(of: url)
      guard let count = held[byte] else { continue }
      held[byte] = count > 1 ? count - 1 : nil
      if count == 1, !isAlone { locks.release(byte..<byte + 1) }
    }
  }

  /// Returns the URLs that other processes claim.
  ///
  /// A run that holds all bytes is made to release what it does not need; if that takes more than
  /// two seconds, its bytes do not count as claims.
  static func claimedURLs(among urls: [String], in root: Folder) throws(Failure) -> Set<String> {
    guard let folder = try root.folder(CacheLayout.locksName),
      let file = try folder.openExisting(CacheLayout.claimsName, O_RDWR)
    else { return [] }
    let locks = ByteLocks(file)
    let clock = ContinuousClock()
    let end = clock.now + longestSilence
    var open = urls
    var found: Set<String> = []
    var hasNotified = false
    while !open.isEmpty {
      var unclear: [String] = []
      for url in open {
        switch locks.lengthOfLock(at: byte(of: url)) {
        case nil: break
        case 1: found.insert(url)
        default: unclear.append(url)
        }
      }
      open = unclear
      guard !open.isEmpty, clock.now < end else { break }
      if !hasNotified { futimens(file.number, nil) }
      hasNotified = true
      poll(nil, 0, 10)
    }
    return found
  }

  private static let longestSilence: Duration = .seconds(2)

  private func giveUpOthers() {
    isAlone = false
    var next = Self.everything.lowerBound
    for byte in held.keys.sorted() {
      if next < byte { locks.release(next..<byte) }
      next = byte + 1
    }
    locks.release(next..<Self.everything.upperBound)
  }

  private func touch() {
    futimens(file.number, nil)
  }

  private static func byte(of url: String) -> Int64 {
    var hash = StableHash()
    hash.combine(url)
    return Int64(hash.value >> 2) + 1
  }
}
