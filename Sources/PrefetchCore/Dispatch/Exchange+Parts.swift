/// What is kept of a body that broke off, and goes on where it ended.
extension Exchange {
  mutating func keepPart(of result: TransferResult) {
    let hasBodyBegun = result.partial != nil || result.figures.firstByte != nil
    // A coded body cannot be continued, so what breaks off once is asked for as it is.
    if hasBodyBegun, !hasSentPart { allowsCoding = false }
    guard let kept = result.partial else {
      if hasSentPart, hasBodyBegun { partial = nil }
      return
    }
    let gained = kept.offset - (hasSentPart ? partial?.offset ?? 0 : 0)
    partial = kept
    if hasSentPart, gained <= 0, result.figures.firstByte != nil {
      fruitlessParts += 1
      // A server that keeps on answering with nothing would never let it end.
      if fruitlessParts > 1 { partial = nil }
    }
    // A line that drops every few minutes still brings a large body home; only who gets nowhere
    // runs out of tries. What a source may cost in all stays bounded.
    if gained >= Self.realProgress { tries = 0 }
  }

  /// Gives up what is kept, if that has not been done before; the whole is asked for then.
  mutating func dropPart() -> Bool {
    partial = nil
    guard !hasDroppedPart else { return false }
    hasDroppedPart = true
    isFollowUp = true
    return true
  }

  /// The transport found another part than the kept one continues, or the kept one is damaged.
  static func isObjectionToPart(_ failure: Failure) -> Bool {
    failure.code == .badResponse || failure.code.category == .io
  }

  private static let realProgress: Int64 = 1 << 20
}
