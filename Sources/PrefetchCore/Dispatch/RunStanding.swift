/// How a run stands at one moment, for a display that draws it.
package struct RunStanding: Hashable, Sendable {
  package enum Phase: Hashable, Sendable {
    /// Its manifest is asked for or being read.
    case discovering
    /// Its items are known.
    case underWay
    case publishing
    case settled
  }

  package struct Segment: Hashable, Sendable {
    package var name: String
    package var phase: Phase
    /// Items that have not settled.
    package var open = 0
    /// Requests on the wire.
    package var active = 0
    /// What its items bring in all, as far as each of them declares that.
    package var expectedBytes: Int64?
    package var wait: Wait?
  }

  /// Why something of a segment waits, and for how long.
  package struct Wait: Hashable, Sendable {
    package var trouble: RequestTrouble
    package var rest: Duration
  }

  /// A body that has been arriving for longer than a moment.
  package struct Transfer: Hashable, Sendable {
    package var url: WebURL
    /// By its place among ``RunStanding/segments``.
    package var segment: Int
    package var isDocument: Bool
    package var advance: TransferAdvance
    /// The item of several files that it is for.
    package var whole: Whole?
  }

  /// An item of several files.
  package struct Whole: Hashable, Sendable {
    package var url: WebURL
    /// Of those of its files that are here.
    package var bytes: Int64
    /// Of all of them, as far as that is known.
    package var size: Int64?
  }

  package var segments: [Segment]
  /// In the order in which they began.
  package var transfers: [Transfer] = []
}
