/// Facts by which `variant: auto` chooses among the variants of a stream, and the choice.
///
/// All of them are known before the run asks for the stream, so a plan chooses as the run does.
package struct AutomaticVariant: Hashable, Sendable {
  /// One variant, as the stream offers it.
  package struct Step: Hashable, Sendable {
    /// Bits a second.
    package var bitrate: Int64
    /// Bits a second that its host was measured at; nil where nothing is known.
    package var rate: Int64?
    /// Whether the whole that is here is of this variant.
    package var isHeld: Bool
    /// Whether what is here of an unfinished whole is of this variant.
    package var isBegun: Bool

    package init(bitrate: Int64, rate: Int64? = nil, isHeld: Bool = false, isBegun: Bool = false) {
      self.bitrate = bitrate
      self.rate = rate
      self.isHeld = isHeld
      self.isBegun = isBegun
    }

    /// Whether the line brings it so many times as fast as it plays.
    fileprivate func isBrought(_ times: Double) -> Bool {
      rate.map { bitrate > 0 && Double(bitrate) * times <= Double($0) } ?? false
    }
  }

  package struct Choice: Hashable, Sendable {
    package var place: Int
    /// Whether it takes the place of a whole that has not changed.
    package var isClimb = false
    /// Bytes that it needs besides what is here.
    package var need: Int64 = 0

    package init(place: Int, isClimb: Bool = false, need: Int64 = 0) {
      self.place = place
      self.isClimb = isClimb
      self.need = need
    }
  }

  /// How many times as fast as it plays a variant has to come to be chosen anew, so that a line of
  /// which the rate goes up and down a little changes nothing.
  private static let margin = 1.5

  package static let climbReason = "its line brings a better variant"

  /// Bytes a second by host, as ``WebURL/authority`` has it.
  package var rates: [String: Int64] = [:]
  /// The best quality that the network is good for.
  package var bound = BundleRules.Quality.high
  /// The quality to take where no host's rate is known.
  package var suggested = BundleRules.Quality.medium
  /// Whether the stream's own document is the one that was here.
  package var isUnchanged = false
  /// Whether a better variant may take the place of a whole that has not changed.
  package var mayClimb = false
  /// Bytes of the whole that is here.
  package var size: Int64 = 0
  /// Bytes that may come besides what is here; nil for any number.
  package var spare: Int64?
  /// Limit of the bytes of one whole.
  package var sizeLimit: Int64?
  /// Keys of the documents of the whole that is here, and of the unfinished one.
  package var held: Set<String> = []
  package var begun: Set<String> = []
  /// Whether a better variant was tried in this run, and did not come.
  package var hasFailed = false

  package init() {}

  /// The variant to take of these, which are in rising order; at least one.
  package func choice(among steps: [Step]) -> Choice {
    let held = steps.lastIndex { $0.isHeld }
    let last = bound.place(among: steps.count)
    if !hasFailed, let begun = steps.lastIndex(where: \.isBegun) {
      return Choice(place: begun, isClimb: isUnchanged && held.map { $0 != begun } ?? false)
    }
    if isUnchanged, let held {
      return mayClimb ? climb(from: held, to: last, among: steps) : Choice(place: held)
    }
    guard steps.contains(where: { $0.rate != nil }) else {
      return Choice(place: min(suggested, bound).place(among: steps.count))
    }
    let best = places(among: steps).last { $0 <= last && steps[$0].isBrought(Self.margin) } ?? 0
    // What was good until now is left only where the line does not bring it any more.
    if let held, best < held, held <= last, steps[held].isBrought(1) { return Choice(place: held) }
    return Choice(place: best)
  }

  /// The best of what fits; what is here where nothing does.
  private func climb(from held: Int, to last: Int, among steps: [Step]) -> Choice {
    for place in places(among: steps).reversed() where held < place && place <= last {
      guard steps[place].isBrought(Self.margin) else { continue }
      let need = need(of: steps[place], after: steps[held])
      if need <= min(spare ?? .max, sizeLimit ?? .max) {
        return Choice(place: place, isClimb: true, need: need)
      }
    }
    return Choice(place: held)
  }

  /// Both wholes are here until the new one is complete, so nothing of the old one counts as free.
  private func need(of step: Step, after held: Step) -> Int64 {
    let bytes = Double(size) * Double(step.bitrate) / Double(max(1, held.bitrate))
    return bytes < 1e18 ? Int64(bytes.rounded(.up)) : .max
  }

  private func places(among steps: [Step]) -> [Int] {
    BundleRules.Quality.allCases.map { $0.place(among: steps.count) }
  }
}

/// What runs remember of streams, and what `variant: auto` may count on.
package struct StreamMemory: Hashable, Sendable {
  /// The last downloads, by ``PastDownload/key(provider:id:)``.
  package var downloads: [String: PastDownload] = [:]
  /// Bytes a second by host, as ``WebURL/authority`` has it.
  package var rates: [String: Int64] = [:]
  /// Bytes that better variants may take of the cache and the disk; nil for any number.
  package var spare: Int64? = 0

  package init() {}
}
