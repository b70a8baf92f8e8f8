import PrefetchCore
import PrefetchSystem

/// The process's signals as the engine sees them.
final class ProcessStop: StopSignal {
  var pending: Int32? {
    StopSignals.pending
  }

  func beginReading() {
    StopSignals.beginReading()
  }

  func endReading() {
    StopSignals.endReading()
  }
}
