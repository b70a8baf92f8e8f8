extension Exchange {
  /// Resumption of an interrupted body.
  struct Part: Sendable {
    var kept: PartialBody?
    var wasSent = false
    /// Whether a content coding may be requested; a coded body cannot be resumed.
    var allowsCoding: Bool
    private var wasDropped = false
    private var fruitless = 0

    init(_ kept: PartialBody?, allowsCoding: Bool) {
      self.kept = kept
      self.allowsCoding = allowsCoding
    }

    mutating func drop() -> Bool {
      kept = nil
      defer { wasDropped = true }
      return !wasDropped
    }

    mutating func keep(_ result: TransferResult) -> Int64 {
      let hasBodyBegun = result.partial != nil || result.figures.firstByte != nil
      if hasBodyBegun, !wasSent { allowsCoding = false }
      guard let rest = result.partial else {
        if wasSent, hasBodyBegun { kept = nil }
        return 0
      }
      let gained = rest.keptSize - (wasSent ? kept?.keptSize ?? 0 : 0)
      kept = rest
      if wasSent, gained <= 0, result.figures.firstByte != nil {
        fruitless += 1
        // Without a limit, a server that sends nothing each time would keep the exchange alive.
        if fruitless > 1 { kept = nil }
      }
      return gained
    }
  }

  mutating func keepPart(of result: TransferResult) {
    // Progress resets the attempts: a connection that drops often still completes a large body.
    if part.keep(result) >= Self.realProgress { attemptCounts.recordProgress() }
  }

  mutating func dropPart() -> Bool {
    guard part.drop() else { return false }
    attemptCounts.isFollowUp = true
    return true
  }

  /// Whether the server continued another body, or the kept part is damaged.
  static func isObjectionToPart(_ failure: Failure) -> Bool {
    failure.code == .badResponse || failure.code.category == .io
  }

  private static let realProgress: Int64 = 1 << 20
}
