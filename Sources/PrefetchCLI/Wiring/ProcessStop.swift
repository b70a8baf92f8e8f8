import PrefetchCore
import PrefetchSystem

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
