/// Hears what a run has to tell while it happens: progress displays, event logs.
package protocol RunObserver: AnyObject {
  /// Whether it wants to hear of every item and request by itself, even where nothing is new.
  var hearsOfEach: Bool { get }
  /// How long it may be between two looks at how the run stands; nil where it takes none.
  var pauseBetweenLooks: Duration? { get }
  /// Whether what it looks at has to say what segments bring in all, and whom they wait for.
  var needsExpectations: Bool { get }
  func observe(_ fact: RunFact, at now: Moment)
  func look(at standing: RunStanding, _ now: Moment)
}

extension RunObserver {
  package var pauseBetweenLooks: Duration? { nil }
  package var needsExpectations: Bool { true }
  package func look(at standing: RunStanding, _ now: Moment) {}
}

/// Whether the program was asked to stop.
package protocol StopSignal: AnyObject {
  /// The signal that came, nil while none has.
  var pending: Int32? { get }
  /// Begins the reading of a document, which may take long and looks at no signal.
  func beginReading()
  func endReading()
}

extension StopSignal {
  package func beginReading() {}
  package func endReading() {}
}
