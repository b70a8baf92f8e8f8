extension Exchange {
  /// What is kept of a body that broke off, and goes on where it ended.
  struct Part: Sendable {
    var kept: PartialBody?
    /// Whether the last request asked for the rest of it.
    var wasSent = false
    /// Whether a body may come in a coding, of which no part could be continued.
    var allowsCoding: Bool
    /// One that does not fit is given up once.
    private var wasDropped = false
    /// Requests for the rest that brought nothing of it.
    private var fruitless = 0

    init(_ kept: PartialBody?, allowsCoding: Bool) {
      self.kept = kept
      self.allowsCoding = allowsCoding
    }

    /// Gives it up, if that has not been done before; the whole is asked for then.
    mutating func drop() -> Bool {
      kept = nil
      defer { wasDropped = true }
      return !wasDropped
    }

    /// Takes in what is left of a body that broke off, and tells how much more that is than before.
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
    // runs out of tries. What a source may cost in all stays bounded.
    if part.keep(result) >= Self.realProgress { tries.noteProgress() }
  }

  mutating func dropPart() -> Bool {
    guard part.drop() else { return false }
    tries.isFollowUp = true
    return true
  }

  /// The transport found another part than the kept one continues, or the kept one is damaged.
  static func isObjectionToPart(_ failure: Failure) -> Bool {
    failure.code == .badResponse || failure.code.category == .io
  }

  private static let realProgress: Int64 = 1 << 20
}
