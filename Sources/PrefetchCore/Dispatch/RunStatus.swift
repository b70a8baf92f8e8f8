/// Snapshot of a run for a progress display.
package struct RunStatus: Hashable, Sendable {
  package enum Phase: Hashable, Sendable {
    case discovering
    case running
    case publishing
    case settled
  }

  package struct Segment: Hashable, Sendable {
    package var name: String
    package var phase: Phase
    package var open = 0
    package var active = 0
    /// Expected bytes of the segment; nil if the size of any item is unknown.
    package var expectedBytes: Int64?
    package var wait: Wait?
  }

  package struct Wait: Hashable, Sendable {
    package var trouble: RequestTrouble
    package var rest: Duration
  }

  /// A transfer that has taken longer than a moment.
  package struct Transfer: Hashable, Sendable {
    package var url: WebURL
    /// Index into ``RunStatus/segments``.
    package var segment: Int
    package var isDocument: Bool
    package var advance: TransferAdvance
    package var whole: Whole?
  }

  package struct Whole: Hashable, Sendable {
    package var url: WebURL
    package var bytes: Int64
    package var size: Int64?
  }

  package var segments: [Segment]
  package var transfers: [Transfer] = []
}
