/// Observer of a run's facts while it runs, such as a progress display or an event log.
package protocol RunObserver: AnyObject {
  /// Whether it needs each item and request as a separate fact, even if nothing changed.
  var needsEachFact: Bool { get }
  /// Maximum time between two calls of `show`; nil if it needs none.
  var pauseBetweenLooks: Duration? { get }
  /// Whether `show` needs the segments' expected bytes and the hosts that they wait for.
  var needsExpectations: Bool { get }
  func observe(_ fact: RunFact, at now: Moment)
  func show(_ status: RunStatus, _ now: Moment)
}

extension RunObserver {
  package var pauseBetweenLooks: Duration? { nil }
  package var needsExpectations: Bool { true }
  package func show(_ status: RunStatus, _ now: Moment) {}
}

/// Stop request from a signal.
package protocol StopSignal: AnyObject {
  var pending: Int32? { get }
  /// Marks the start of reading a document, which may take long and checks for no signal.
  func beginReading()
  func endReading()
}

extension StopSignal {
  package func beginReading() {}
  package func endReading() {}
}
