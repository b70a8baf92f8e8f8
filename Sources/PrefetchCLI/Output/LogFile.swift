import PrefetchCore
import PrefetchSystem

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
    stream.append(text, at: clock.now().wall, isJSON: isJSON)
  }
}

extension StandardOutput {
  func append(_ text: String, at instant: Instant, isJSON: Bool) {
    let time = Timestamp.format(instant)
    for line in text.split(whereSeparator: \.isNewline) {
      write(isJSON ? "\(line)\n" : "\(time) \(line)\n")
    }
    _ = flush()
  }
}
