/// Facts for `variant: auto`, known before the stream is requested, so that a plan chooses alike.
package struct AutomaticVariant: Hashable, Sendable {
  package struct Step: Hashable, Sendable {
    /// Bits per second.
    package var bitrate: Int64
    /// Measured bits per second of the variant's host; nil if unknown.
    package var rate: Int64?
    package var isHeld: Bool
    /// Whether the unfinished whole is of this variant.
    package var isBegun: Bool

    package init(bitrate: Int64, rate: Int64? = nil, isHeld: Bool = false, isBegun: Bool = false) {
      self.bitrate = bitrate
      self.rate = rate
      self.isHeld = isHeld
      self.isBegun = isBegun
    }

    /// Whether the download is at least `times` as fast as playback.
    fileprivate func isBrought(_ times: Double) -> Bool {
      rate.map { bitrate > 0 && Double(bitrate) * times <= Double($0) } ?? false
    }
  }

  package struct Choice: Hashable, Sendable {
    package var index: Int
    /// Whether the choice replaces a whole that has not changed.
    package var isClimb = false
    package var need: Int64 = 0

    package init(index: Int, isClimb: Bool = false, need: Int64 = 0) {
      self.index = index
      self.isClimb = isClimb
      self.need = need
    }
  }

  /// Speed relative to playback that a new choice needs, so that a varying line changes nothing.
  private static let margin = 1.5

  package static let climbReason = "its line brings a better variant"

  /// Bytes per second by host, in the form of ``WebURL/authority``.
  package var rates: [String: Int64] = [:]
  package var bound = BundleRules.Quality.high
  package var suggested = BundleRules.Quality.medium
  package var isUnchanged = false
  package var mayClimb = false
  package var size: Int64 = 0
  package var roomLeft: Int64?
  package var sizeLimit: Int64?
  /// Keys of the documents of the stored whole, and of the unfinished one.
  package var held: Set<String> = []
  package var begun: Set<String> = []
  package var hasFailed = false

  package init() {}

  /// Returns the variant to take; `steps` are in rising order and not empty.
  package func choice(among steps: [Step]) -> Choice {
    let held = steps.lastIndex { $0.isHeld }
    let last = bound.index(among: steps.count)
    if !hasFailed, let begun = steps.lastIndex(where: \.isBegun) {
      return Choice(index: begun, isClimb: isUnchanged && held.map { $0 != begun } ?? false)
    }
    if isUnchanged, let held {
      return mayClimb ? climb(from: held, to: last, among: steps) : Choice(index: held)
    }
    guard steps.contains(where: { $0.rate != nil }) else {
      return Choice(index: min(suggested, bound).index(among: steps.count))
    }
    let best = indices(among: steps).last { $0 <= last && steps[$0].isBrought(Self.margin) } ?? 0
    // The stored variant stays as long as its host delivers it at playback speed.
    if let held, best < held, held <= last, steps[held].isBrought(1) { return Choice(index: held) }
    return Choice(index: best)
  }

  private func climb(from held: Int, to last: Int, among steps: [Step]) -> Choice {
    for index in indices(among: steps).reversed() where held < index && index <= last {
      guard steps[index].isBrought(Self.margin) else { continue }
      let need = need(of: steps[index], after: steps[held])
      if need <= min(roomLeft ?? .max, sizeLimit ?? .max) {
        return Choice(index: index, isClimb: true, need: need)
      }
    }
    return Choice(index: held)
  }

  /// Returns the bytes for a new whole; the old one stays until the new one is complete.
  private func need(of step: Step, after held: Step) -> Int64 {
    let bytes = Double(size) * Double(step.bitrate) / Double(max(1, held.bitrate))
    return bytes < 1e18 ? Int64(bytes.rounded(.up)) : .max
  }

  private func indices(among steps: [Step]) -> [Int] {
    BundleRules.Quality.allCases.map { $0.index(among: steps.count) }
  }
}

/// Facts about streams that runs remember, and the room for better variants.
package struct StreamMemory: Hashable, Sendable {
  package var downloads: [String: PastDownload] = [:]
  package var rates: [String: Int64] = [:]
  /// Bytes that better variants may add to cache and disk; nil without a limit.
  package var roomLeft: Int64? = 0

  package init() {}
}
