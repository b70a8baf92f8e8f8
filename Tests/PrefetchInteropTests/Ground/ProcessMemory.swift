@unsafe @preconcurrency import Glibc

/// What Linux tells of a process's memory.
enum ProcessMemory {
  /// The most resident bytes so far; 0 for one that has ended.
  ///
  /// The figure that waiting for a process gives would include what its parent held when it was
  /// started.
  static func peak(of process: pid_t) -> Int {
    figure("VmHWM:", of: process)
  }

  /// What it holds at this moment beside files, whose pages the kernel may drop.
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
