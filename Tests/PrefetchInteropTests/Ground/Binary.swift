@unsafe @preconcurrency import Glibc

/// The built program under test, which `PREFETCH_BINARY` names.
enum Binary {
  static let path = environment("PREFETCH_BINARY")
  static let isGiven = path != nil
  static let absence = "needs PREFETCH_BINARY, the path of a built prefetch"

  /// Whether the program is a release build.
  static let isRelease = path?.split(separator: "/").contains("release") == true

  /// Path of the program that forks debug builds instead of starting them; `PREFETCH_COPIES=0`
  /// disables it.
  static let zygotePath: String? = {
    guard !isRelease, environment("PREFETCH_COPIES") != "0", let path else { return nil }
    let sibling = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Zygote"
    return unsafe access(sibling, X_OK) == 0 ? sibling : nil
  }()

  /// The program built against a libcurl that speaks HTTP/3.
  static let http3Path = environment("PREFETCH_HTTP3_BINARY")

  /// A program from before the last change of the store's layout.
  static let oldPath = environment("PREFETCH_OLD_BINARY")

  /// Whether the address sanitizer is active, which maps all memory; set by `PREFETCH_SANITIZED=1`.
  static let isSanitized = environment("PREFETCH_SANITIZED") == "1"

  /// Options of the sanitizer that the program was built with, from `ASAN_OPTIONS`.
  static let sanitizerOptions = environment("ASAN_OPTIONS")

  /// Number of rounds of a campaign; `PREFETCH_ROUNDS` overrides the default.
  static let rounds = environment("PREFETCH_ROUNDS").flatMap { Int($0) } ?? 10

  /// Seed of a campaign, from `PREFETCH_SEED`.
  static let seed = environment("PREFETCH_SEED").flatMap { UInt64($0) }

  /// Seed of a campaign that plays a sample: another one each day, so that the samples rotate.
  static let sampleSeed = seed ?? UInt64(time(nil) / 86_400)

  /// File to which suites append their figures, from `PREFETCH_FIGURES`.
  static let figuresPath = environment("PREFETCH_FIGURES")

  /// Words that select rows of the matrix, from `PREFETCH_ROWS`; nil selects all.
  static let rowWords = environment("PREFETCH_ROWS")

  /// Whether pages and snapshots are recorded again.
  static let isRecording = environment("PREFETCH_RECORD") == "1"

  private static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}

/// A program of this machine.
struct Tool {
  let path: String

  /// Finds a program; returns nil when it is not installed.
  init?(_ name: String) {
    let candidates = ["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin"].map {
      "\($0)/\(name)"
    }
    guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else { return nil }
    self.path = path
  }

  static func isInstalled(_ name: String) -> Bool {
    Tool(name) != nil
  }
}
