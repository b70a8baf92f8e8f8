import Glibc
import PrefetchCore
import PrefetchDocuments

/// Input formats of the program, each with the reader that the program itself uses.
enum FuzzTarget: String, CaseIterable {
  case configYAML = "config-yaml"
  case configJSON = "config-json"
  case configPlist = "config-plist"
  case configBinaryPlist = "config-bplist"
  case urlPolicy = "url-policy"
  case headerBlock = "header-block"
  case dates
  case manifests
  case playlists
  case vast
  case servedRequest = "served-request"
  case notifyPayload = "notify-payload"
  case lockFile = "lock-file"

  /// Target of this process, from `PREFETCH_FUZZ_TARGET`.
  static let chosen: FuzzTarget = {
    let name = unsafe getenv("PREFETCH_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
      let names = allCases.map(\.rawValue).joined(separator: ", ")
      violated("PREFETCH_FUZZ_TARGET is `\(name)` and none of \(names)")
    }
    return target
  }()

  func run(_ bytes: [UInt8]) {
    switch self {
    case .configYAML: ConfigurationTargets.run(bytes, syntax: .yaml)
    case .configJSON: ConfigurationTargets.run(bytes, syntax: .json)
    case .configPlist: ConfigurationTargets.run(bytes, syntax: .xmlPlist)
    case .configBinaryPlist: ConfigurationTargets.run(bytes, syntax: .binaryPlist)
    case .urlPolicy: HTTPTargets.url(bytes)
    case .headerBlock: HTTPTargets.head(bytes)
    case .dates: HTTPTargets.dates(bytes)
    case .manifests: ManifestTargets.manifest(bytes)
    case .playlists: ManifestTargets.bundle(bytes, form: .stream)
    case .vast: ManifestTargets.bundle(bytes, form: .ad)
    case .servedRequest: ServedRequestTarget.run(bytes)
    case .notifyPayload: PayloadTarget.run(bytes)
    case .lockFile: ManifestTargets.lockfile(bytes)
    }
  }
}

/// Ends the process like any crash, so that libFuzzer keeps the input.
func violated(_ words: String) -> Never {
  let line = Array("violated: \(words)\n".utf8)
  unsafe write(STDERR_FILENO, line, line.count)
  abort()
}

func require(_ isTrue: Bool, _ words: @autoclosure () -> String) {
  if !isTrue { violated(words()) }
}

/// Processor time of this thread, which other processes do not change, in nanoseconds.
private func processorTime() -> Int {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

private let longestRun = 1_000_000_000

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  let began = processorTime()
  FuzzTarget.chosen.run(bytes)
  let spent = processorTime() - began
  require(spent <= longestRun, "one input took \(spent / 1_000_000) ms of processor time")
  return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Starts libFuzzer; the package manager gives the function `main` of an executable this name.
@_cdecl("Fuzz_main")
public func fuzzMain(
  _ count: CInt,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  var count = count
  var arguments = unsafe arguments
  return unsafe runDriver(&count, &arguments, fuzzOneInput)
}
