@unsafe @preconcurrency import Glibc

/// A fault injected into a program's system calls by the library of `Tests/Faults`.
struct Fault {
  enum Kind {
    case kill
    case error(CInt)
  }

  /// The number of the call, from 1; 0 only counts.
  var call: Int
  var kind = Kind.kill
  /// Number of consecutive calls that fail.
  var span = 1
  /// Names of the calls to fail, separated by blanks; nil for the usual ones of files and network.
  var calls: String?
  /// Text that the file's path must contain.
  var path: String?

  /// Path of the fault library; nil when it is not built.
  static let library: String? = {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard count > 0 else { return nil }
    let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    let library = "/\(folder)/libFaults.so"
    return FileTree.exists(library) ? library : nil
  }()

  static let absence = "needs libFaults.so beside the tests"

  /// Returns the home whose programs meet the fault.
  func home(_ home: Home) -> Home {
    var broken = home
    broken.variables["LD_PRELOAD"] = Self.library
    broken.variables["FAULT_AT"] = String(call)
    broken.variables["FAULT_LOG"] = home.path("fault.log")
    switch kind {
    case .kill: break
    case .error(let number): broken.variables["FAULT_KIND"] = String(number)
    }
    if span != 1 { broken.variables["FAULT_FOR"] = String(span) }
    broken.variables["FAULT_CALLS"] = calls
    broken.variables["FAULT_PATH"] = path
    return broken
  }

  /// The call that was broken, or the number of all calls.
  static func report(_ home: Home) -> String {
    (home.read("fault.log") ?? "no call").filter { $0 != "\n" }
  }
}
