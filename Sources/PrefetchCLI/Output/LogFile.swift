import Glibc
import PrefetchCore
import PrefetchSystem

/// Messages in a file instead of on stderr, one line each, appended.
final class LogFile {
  let isJSON: Bool
  private let stream: StandardOutput
  private let clock: any Clock

  init(path: String, isJSON: Bool, clock: any Clock) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw Failure(.permission, "the log file `\(path)`: \(StandardOutput.reason(errno: errno))")
    }
    self.isJSON = isJSON
    self.clock = clock
    stream = StandardOutput(descriptor: descriptor)
  }

  func append(_ text: String) {
    let time = Timestamp.format(clock.now().wall)
    for line in text.split(separator: "\n") {
      stream.write(isJSON ? "\(line)\n" : "\(time) \(line)\n")
    }
    _ = stream.flush()
  }
}
