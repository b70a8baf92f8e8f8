internal import Glibc
package import PrefetchCore

package enum ThisMachine {
  package static func platform() -> MachinePlatform? {
    var names = utsname()
    guard unsafe uname(&names) == 0 else { return nil }
    let machine = unsafe withUnsafeBytes(of: &names.machine) { unsafe text($0) }
    return MachinePlatform(system: "linux", machine: machine, library: library())
  }

  /// Returns the C library's version, such as `glibc 2.36`.
  private static func library() -> MachinePlatform.Library? {
    var bytes = [UInt8](repeating: 0, count: 64)
    let length = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe confstr(
        Int32(_CS_GNU_LIBC_VERSION),
        buffer.baseAddress?.assumingMemoryBound(to: CChar.self),
        buffer.count
      )
    }
    guard length > 1, length <= bytes.count else { return nil }
    let words = unsafe bytes.withUnsafeBytes { unsafe text($0) }.split(separator: " ")
    guard words.count == 2, words[0] == "glibc" else { return nil }
    let numbers = words[1].split(separator: ".").prefix(2).compactMap { Int($0) }
    return numbers.count == 2 ? .glibc(major: numbers[0], minor: numbers[1]) : nil
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
