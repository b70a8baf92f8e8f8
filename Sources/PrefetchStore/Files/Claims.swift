internal import Glibc
internal import PrefetchCore

/// Who transfers what: a byte of `CACHE/locks/claims` for each URL that is under way.
///
/// A lone run has all bytes at once, which costs nothing for each URL. One that is refused
/// touches the file; the other sees that and keeps only the bytes of what it has under way.
final class Claims {
  private let file: OpenFile
  private let locks: ByteLocks
  private let note: CacheUserNote
  /// Whether all bytes are ours.
  private var isAlone = false
  /// When the file was touched last, as far as we know.
  private var touched: Int64 = 0
  private(set) var hasCompany = false
  /// The present wait for what others have under way.
  private var refusal = Wait()
  /// How often each byte is wanted: two URLs may meet in one.
  private var held: [Int64: Int] = [:]

  /// The right to write to the index, for which processes queue up.
  private static let turn: Range<Int64> = 0..<1
  private static let everything: Range<Int64> = 1..<ByteLocks.end

  /// Its path, for messages.
  private let cache: String

  init(in root: Folder) throws(Failure) {
    cache = root.path
    let folder = try root.makingFolder(CacheLayout.locksName).0
    file = try folder.openLock(CacheLayout.claimsName)
    locks = ByteLocks(file)
    note = CacheUserNote(in: folder)
  }

  /// Who else changes the cache.
  var otherUsers: [CacheUser] {
    CacheUser.others(in: note.folder)
  }

  /// One process after the other.
  func inTurn<Value>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try Patience.wait(for: cache, usedBy: otherUsers) { () throws(Failure) in
      try locks.take(Self.turn)
    }
    defer { locks.release(Self.turn) }
    return try body()
  }

  // MARK: URLs

  /// To be called when a run begins to ask.
  func begin() throws(Failure) {
    note.tidy()
    touched = try file.status().changed
    isAlone = try locks.take(Self.everything)
    hasCompany = !isAlone
    if hasCompany { touch() }
  }

  func end() {
    locks.release(Self.everything)
    (isAlone, held) = (false, [:])
  }

  /// Looks whether another run has come; once there is company, it stays.
  func look() throws(Failure) -> Bool {
    if !hasCompany { hasCompany = try file.status().changed != touched }
    return hasCompany
  }

  /// Whether each of them is ours now.
  ///
  /// As long as all bytes are, these are the ones that are kept.
  func take(_ urls: [String]) throws(Failure) -> [Bool] {
    if isAlone {
      for url in urls { held[Self.byte(of: url), default: 0] += 1 }
      giveUpOthers()
      return urls.map { _ in true }
    }
    var isOurs: [Bool] = []
    var isRefused = false
    for url in urls {
      let byte = Self.byte(of: url)
      var isGranted = held[byte] != nil
      if !isGranted { isGranted = try locks.take(byte..<byte + 1) }
      if isGranted { held[byte, default: 0] += 1 }
      isRefused = isRefused || !isGranted
      isOurs.append(isGranted)
    }
    if isRefused {
      touch()
      refusal.tell(for: urls.first ?? cache, usedBy: { otherUsers })
    } else {
      refusal = Wait()
    }
    return isOurs
  }

  func release(_ urls: [String]) {
    for url in urls {
      let byte = Self.byte(of: url)
      guard let count = held[byte] else { continue }
      held[byte] = count > 1 ? count - 1 : nil
      if count == 1, !isAlone { locks.release(byte..<byte + 1) }
    }
  }

  /// Those of some URLs that another process asks for now.
  ///
  /// A lone run has all of them, and is made to say which it means; one that does not say so in time
  /// means none.
  static func underWay(_ urls: [String], in root: Folder) throws(Failure) -> Set<String> {
    guard let folder = try root.folder(CacheLayout.locksName),
      let file = try folder.openExisting(CacheLayout.claimsName, O_RDWR)
    else { return [] }
    let locks = ByteLocks(file)
    let clock = ContinuousClock()
    let end = clock.now + longestSilence
    var open = urls
    var found: Set<String> = []
    var isTold = false
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
      if !isTold { futimens(file.number, nil) }
      isTold = true
      poll(nil, 0, 10)
    }
    // A run that is not alone looks now and then what is said of its items.
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
