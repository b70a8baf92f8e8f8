@unsafe @preconcurrency import Glibc

/// Memory of a process as Linux reports it.
enum ProcessMemory {
  /// Returns the peak of resident bytes; 0 after the process has ended.
  ///
  /// The figure from waiting for a process would include its parent's memory at the start.
  static func peak(of process: pid_t) -> Int {
    figure("VmHWM:", of: process)
  }

  /// Returns the resident bytes without file pages, which the kernel may drop.
  static func ownBytes(of process: pid_t) -> Int {
    figure("RssAnon:", of: process)
  }

  private static func figure(_ name: String, of process: pid_t) -> Int {
    guard let status = FileTree.read("/proc/\(process)/status") else { return 0 }
    let text = String(decoding: status, as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    let words = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
    return words.count == 3 ? (Int(words[1]) ?? 0) * 1_024 : 0
  }
}
