import PrefetchCore
import Testing

@Suite("The automatic variant of a stream")
struct AutomaticVariantTests {
  /// A network, stored content and the expected choice among variants of 100, 200 and 400 bits per
  /// second.
  struct Case: CustomStringConvertible {
    var words: String
    /// Bits a second.
    var rate: Int64?
    var held: Int?
    var begun: Int?
    var change: @Sendable (inout AutomaticVariant) -> Void = { _ in }
    var expected: AutomaticVariant.Choice

    var description: String { words }

    init(
      _ words: String,
      rate: Int64? = nil,
      held: Int? = nil,
      begun: Int? = nil,
      _ expected: AutomaticVariant.Choice,
      _ change: @escaping @Sendable (inout AutomaticVariant) -> Void = { _ in }
    ) {
      (self.words, self.rate, self.held, self.begun) = (words, rate, held, begun)
      (self.expected, self.change) = (expected, change)
    }
  }

  private static func chosen(_ index: Int) -> AutomaticVariant.Choice {
    AutomaticVariant.Choice(index: index)
  }

  private static func climb(_ index: Int, _ need: Int64) -> AutomaticVariant.Choice {
    AutomaticVariant.Choice(index: index, isClimb: true, need: need)
  }

  private static let same: @Sendable (inout AutomaticVariant) -> Void = { facts in
    (facts.isUnchanged, facts.mayClimb, facts.size) = (true, true, 1_000)
  }

  static let cases = [
    Case("nothing is known", chosen(1)),
    Case("its last download was slow", chosen(0)) { $0.suggested = .low },
    Case("poor network, nothing known", chosen(0)) { $0.bound = .low },
    Case("a fast host", rate: 600, chosen(2)),
    Case("just too slow for the best", rate: 599, chosen(1)),
    Case("a slow host", rate: 149, chosen(0)),
    Case("slower than all", rate: 1, chosen(0)),
    Case("a fast host on a poor network", rate: 9_000, chosen(1)) { $0.bound = .medium },
    // Cases with changed content.
    Case("changed, as fast as it plays", rate: 400, held: 2, chosen(2)),
    Case("changed, slower than it plays", rate: 399, held: 2, chosen(1)),
    Case("changed, a faster line", rate: 600, held: 0, chosen(2)),
    Case("changed, a poor network", rate: 9_000, held: 2, chosen(0)) { $0.bound = .low },
    // Cases with unchanged content.
    Case("climbs", rate: 600, held: 0, climb(2, 4_000), same),
    Case("climbs one step", rate: 300, held: 0, climb(1, 2_000), same),
    Case("does not climb below the margin", rate: 299, held: 0, chosen(0), same),
    Case("is never made worse", rate: 1, held: 2, chosen(2), same),
    Case("is never made worse by a poor network", rate: 1, held: 2, chosen(2)) {
      same(&$0)
      $0.bound = .low
    },
    Case("stays where nothing is known", held: 2, chosen(2), same),
    Case("stays where it may not climb", rate: 9_000, held: 0, chosen(0)) { $0.isUnchanged = true },
    Case("has room for one step", rate: 9_000, held: 0, climb(1, 2_000)) {
      same(&$0)
      $0.roomLeft = 3_999
    },
    Case("has no room", rate: 9_000, held: 0, chosen(0)) {
      same(&$0)
      $0.roomLeft = 1_999
    },
    Case("is bound in size", rate: 9_000, held: 0, climb(1, 2_000)) {
      same(&$0)
      $0.sizeLimit = 2_000
    },
    // Cases with partially stored content.
    Case("goes on with what was begun", rate: 9_000, begun: 0, chosen(0)),
    Case("goes on with it on a slow line", rate: 1, begun: 2, chosen(2)),
    Case(
      "goes on climbing",
      rate: 1,
      held: 0,
      begun: 2,
      AutomaticVariant.Choice(index: 2, isClimb: true)
    ) { $0.isUnchanged = true },
    Case("stays after a climb that failed", rate: 9_000, held: 0, begun: 2, chosen(0)) {
      ($0.isUnchanged, $0.hasFailed) = (true, true)
    },
  ]

  @Test("A variant is chosen by bandwidth, by stored pieces and by room", arguments: cases)
  func choice(_ given: Case) {
    var facts = AutomaticVariant()
    given.change(&facts)
    let steps = [100, 200, 400].enumerated().map { index, bitrate in
      AutomaticVariant.Step(
        bitrate: Int64(bitrate),
        rate: given.rate,
        isHeld: given.held == index,
        isBegun: given.begun == index
      )
    }
    #expect(facts.choice(among: steps) == given.expected)
  }

  @Test("A stream with one variant, or of unknown bit rates, is left as it is")
  func few() {
    var facts = AutomaticVariant()
    #expect(facts.choice(among: [AutomaticVariant.Step(bitrate: 9, rate: 1)]).index == 0)
    Self.same(&facts)
    let unknown = [
      AutomaticVariant.Step(bitrate: 0, rate: 9, isHeld: true),
      AutomaticVariant.Step(bitrate: 0, rate: 9),
    ]
    #expect(facts.choice(among: unknown) == AutomaticVariant.Choice(index: 0))
  }
}

@Suite("Speed of a host")
struct HostPaceTests {
  private func pace(_ bodies: [(bytes: Int64, took: Double, end: Double)]) -> HostPace {
    var pace = HostPace()
    for body in bodies {
      pace.record(body.bytes, took: .seconds(body.took), until: .seconds(body.end))
    }
    return pace
  }

  @Test("Concurrent bodies share their time, and pauses do not count")
  func busy() {
    #expect(pace([(100, 1, 1), (100, 1, 11)]).busy == .seconds(2))
    #expect(pace([(100, 2, 2), (100, 2, 3)]).busy == .seconds(3))
    #expect(pace([(100, 1, 5), (100, 6, 6)]).busy == .seconds(6))
    #expect(pace([(300, 2, 2), (300, 2, 3)]).rate == 200)
  }

  @Test("A few bytes are no evidence, and earlier figures count half")
  func memory() {
    #expect(!pace([(65_535, 1, 1)]).hasEnoughBytes)
    #expect(pace([(65_535, 1, 1), (1, 1, 2)]).hasEnoughBytes)
    let before = HostPace(bytes: 200, busy: .seconds(2))
    let after = before.followed(by: HostPace(bytes: 300, busy: .seconds(1)))
    #expect(after.bytes == 400)
    #expect(after.busy == .seconds(2))
    #expect(HostPace().rate == 0)
  }
}
