internal import Glibc
internal import PrefetchCore
internal import PrefetchCrypto
internal import Synchronization

/// Progress of an item that some process has in flight.
package struct ItemProgress: Hashable, Sendable {
  package var url: String
  package var segment: String
  package var bytes: Int64
  /// Expected size of the whole; nil when unknown.
  package var total: Int64?
  package var rate: Int64?

  package init(url: String, segment: String, bytes: Int64, total: Int64?, rate: Int64?) {
    self.url = url
    self.segment = segment
    self.bytes = bytes
    self.total = total
    self.rate = rate
  }
}

/// File in `CACHE/locks/claims.d` with a run's transfers, locked while the run is alive.
package final class TransferProgressFile {
  private let folder: Folder
  private let name: String
  private let file: OpenFile
  private let lock: ByteLocks

  private static let count = Atomic(0)
  private static let suffix = ".transfers"
  private static let mark = "prefetch-transfers/1"

  /// Returns nil when the file cannot be made; other processes then see nothing.
  package init?(inCache path: String) {
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    let name = "\(getpid())-\(number)\(Self.suffix)"
    guard let root = try? Folder(at: path),
      let folder = try? root.makingFolder(CacheLayout.locksName).0
        .makingFolder(CacheLayout.usersName).0,
      let file = try? folder.open(name, O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
    else { return nil }
    Self.removeDead(in: folder)
    let lock = ByteLocks(file)
    guard (try? lock.acquire(0..<1)) == true else { return nil }
    self.folder = folder
    self.name = name
    self.file = file
    self.lock = lock
  }

  deinit {
    _ = try? folder.remove(name)
  }

  package func write(_ items: [ItemProgress]) {
    let lines = items.filter { !$0.url.utf8.contains { $0 < 0x20 } }.map { item in
      let total = item.total.map(String.init) ?? "-"
      let rate = item.rate.map(String.init) ?? "-"
      return "\(item.bytes)\t\(total)\t\(rate)\t\(item.url)\t\(item.segment)\n"
    }
    let text = lines.joined()
    let bytes = Array("\(Self.mark) \(Self.sum(of: text))\n\(text)".utf8)
    let written = SystemCall.count {
      unsafe bytes.withUnsafeBytes { unsafe pwrite(file.number, $0.baseAddress, $0.count, 0) }
    }
    if written >= 0 { ftruncate(file.number, off_t(written)) }
  }

  package static func all(inCache path: String) -> [ItemProgress] {
    guard let root = try? Folder(at: path),
      let folder = try? root.folder(CacheLayout.locksName)?.folder(CacheLayout.usersName)
    else { return [] }
    var items: [ItemProgress] = []
    for name in (try? folder.names()) ?? [] where name.hasSuffix(suffix) {
      guard let file = open(name, in: folder), ByteLocks(file).isLockedElsewhere(0..<1) else {
        continue
      }
      items += read(file)
    }
    return items.sorted { ($0.url, $0.segment) < ($1.url, $1.segment) }
  }

  private static func open(_ name: String, in folder: Folder) -> OpenFile? {
    (try? folder.openExisting(name, O_RDONLY)) ?? nil
  }

  /// Retries when a checksum shows that the file is being written.
  private static func read(_ file: OpenFile) -> [ItemProgress] {
    for _ in 0..<tries {
      guard let status = try? file.status(), status.size < longest else { return [] }
      var buffer = [UInt8](repeating: 0, count: Int(status.size) + 1)
      guard let count = try? file.read(into: &buffer, at: 0) else { return [] }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      guard let end = text.firstIndex(of: "\n") else { continue }
      let rest = String(text[text.index(after: end)...])
      guard text[..<end] == "\(mark) \(sum(of: rest))" else { continue }
      return rest.split(separator: "\n").compactMap(item)
    }
    return []
  }

  private static func item(_ line: Substring) -> ItemProgress? {
    let words = line.split(separator: "\t", maxSplits: 4, omittingEmptySubsequences: false)
    guard words.count == 5, let bytes = Int64(words[0]) else { return nil }
    return ItemProgress(
      url: String(words[3]),
      segment: String(words[4]),
      bytes: bytes,
      total: Int64(words[1]),
      rate: Int64(words[2])
    )
  }

  private static func removeDead(in folder: Folder) {
    for name in (try? folder.names()) ?? [] where name.hasSuffix(suffix) {
      guard let file = open(name, in: folder),
        !ByteLocks(file).isLockedElsewhere(0..<1), let process = name.split(separator: "-").first,
        pid_t(process) != getpid()
      else { continue }
      _ = try? folder.remove(name)
    }
  }

  private static func sum(of text: String) -> String {
    SHA256.digest(of: text).hexadecimal(ofFirst: 8)
  }

  private static let tries = 3
  private static let longest: Int64 = 8 << 20
}
