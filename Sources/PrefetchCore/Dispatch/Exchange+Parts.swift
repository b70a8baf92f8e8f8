extension Exchange {
  /// Resumption of an interrupted body.
  struct Part: Sendable {
    var kept: PartialBody?
    /// Whether the last request was a range request for the rest.
    var wasSent = false
    /// Whether a content coding may be requested; a coded body cannot be resumed.
    var allowsCoding: Bool
    /// Whether the part was dropped once.
    private var wasDropped = false
    /// Number of range requests without progress.
    private var fruitless = 0

    init(_ kept: PartialBody?, allowsCoding: Bool) {
      self.kept = kept
      self.allowsCoding = allowsCoding
    }

    /// Drops the part; returns false if that was done before.
    mutating func drop() -> Bool {
      kept = nil
      defer { wasDropped = true }
      return !wasDropped
    }

    /// Records the part of an interrupted body and returns the bytes gained.
    mutating func keep(_ result: TransferResult) -> Int64 {
      let hasBodyBegun = result.partial != nil || result.figures.firstByte != nil
      // A coded body cannot be continued, so what breaks off once is asked for as it is.
      if hasBodyBegun, !wasSent { allowsCoding = false }
      guard let rest = result.partial else {
        if wasSent, hasBodyBegun { kept = nil }
        return 0
      }
      let gained = rest.offset - (wasSent ? kept?.offset ?? 0 : 0)
      kept = rest
      if wasSent, gained <= 0, result.figures.firstByte != nil {
        fruitless += 1
        // A server that keeps on answering with nothing would never let it end.
        if fruitless > 1 { kept = nil }
      }
      return gained
    }
  }

  mutating func keepPart(of result: TransferResult) {
    // A line that drops every few minutes still brings a large body home; only who gets nowhere
    // runs out of attempts. What a source may cost in all stays bounded.
    if part.keep(result) >= Self.realProgress { attemptCounts.noteProgress() }
  }

  mutating func dropPart() -> Bool {
    guard part.drop() else { return false }
    attemptCounts.isFollowUp = true
    return true
  }

  /// The transport found another part than the kept one continues, or the kept one is damaged.
  static func isObjectionToPart(_ failure: Failure) -> Bool {
    failure.code == .badResponse || failure.code.category == .io
  }

  private static let realProgress: Int64 = 1 << 20
}
