import Glibc
import PrefetchTestSupport
import Synchronization

/// Repeatedly reads all files of a tree and records those of different generations.
final class TreeReader: Sendable {
  private struct Findings {
    var looks = 0
    var mixed: [String] = []
    var isOver = false
  }

  private let path: String
  private let findings = Mutex(Findings())
  private let thread = Mutex<NativeThread?>(nil)

  init(_ path: String) {
    self.path = path
  }

  func start() {
    thread.withLock { thread in
      thread = NativeThread { [self] in
        while !findings.withLock(\.isOver) { look() }
      }
    }
    // Waits for at least one reading before the first switch.
    while findings.withLock(\.looks) == 0 { sched_yield() }
  }

  func finish() -> (looks: Int, mixed: [String]) {
    findings.withLock { $0.isOver = true }
    thread.withLock { $0?.join() }
    return findings.withLock { ($0.looks, $0.mixed) }
  }

  private func look() {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let texts = ["a", "b", "dir/c"].map { read($0, below: folder) }
    close(folder)
    let rounds = Set(texts.map { $0.split(separator: " ").prefix(2).joined(separator: " ") })
    // A single path is whole at every moment too.
    let single = read(path + "/a", below: AT_FDCWD)
    findings.withLock {
      $0.looks += 1
      if folder < 0 || rounds.count != 1 || rounds.contains("") || single.isEmpty {
        $0.mixed.append("\(texts) \(single)")
      }
    }
  }

  private func read(_ name: String, below folder: Int32) -> String {
    let file = unsafe openat(folder, name, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = unsafe Glibc.read(file, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
