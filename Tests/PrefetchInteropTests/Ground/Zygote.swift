import CZygote
@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Synchronization

/// A started program under test that is forked for each run.
///
/// Two thirds of a debug program's start are spent on loading libraries and on Swift's type
/// metadata. A fork has both, runs the same code from the first argument on, and is a child of this
/// process. Release builds, and programs started by other programs, are always started normally.
final class Zygote: Sendable {
  static let shared: Zygote? = Binary.zygotePath.flatMap { Zygote($0) }

  private let socket: CInt
  private let lock = Mutex(())

  private init?(_ path: String) {
    var ends: [CInt] = [-1, -1]
    let type = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
    socket = ends[0]
    defer { close(ends[1]) }
    let silence = unsafe open("/dev/null", O_RDWR)
    defer { close(silence) }
    guard let folder = try? TemporaryDirectory(),
      (try? Spawn.server([path, folder.path], socket: ends[1])) != nil,
      let first = start([path, "--version"], [:], nil, [silence, silence, silence])
    else { return nil }
    // After the first copy the folder is no longer needed.
    var status: CInt = -1
    guard unsafe waitpid(first, &status, 0) == first, status == 0 else { return nil }
  }

  /// Forks a run; returns nil when only a normal start will do.
  func start(
    _ words: [String],
    _ environment: [String: String],
    _ folder: String?,
    _ streams: [CInt]
  ) -> pid_t? {
    // The loader reads these variables at a start only, and a schedule names the running program.
    guard !environment.keys.contains(where: { $0.hasPrefix("LD_") }), !words.contains("schedule")
    else { return nil }
    var message: [UInt8] = []
    for count in [words.count, environment.count] {
      message += (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    }
    let variables = environment.map { "\($0.key)=\($0.value)" }
    for text in [folder ?? ""] + words + variables { message += text.utf8 + [0] }
    guard message.count < 100_000 else { return nil }
    let child = lock.withLock { _ in
      unsafe zygote_start(socket, message, message.count, streams)
    }
    return child > 0 ? child : nil
  }
}
