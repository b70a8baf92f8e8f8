import PrefetchCore
import PrefetchSystem

/// Messages in a file instead of on stderr, one line each, appended.
final class LogFile {
  let isJSON: Bool
  private let stream: StandardOutput
  private let clock: any Clock

  init(path: String, isJSON: Bool, clock: any Clock) throws(Failure) {
    stream = try StandardOutput(appendingTo: path)
    self.isJSON = isJSON
    self.clock = clock
  }

  func append(_ text: String) {
    let time = Timestamp.format(clock.now().wall)
    for line in text.split(whereSeparator: \.isNewline) {
      stream.write(isJSON ? "\(line)\n" : "\(time) \(line)\n")
    }
    _ = stream.flush()
  }
}
