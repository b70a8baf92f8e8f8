import Testing

@testable import PrefetchCLI
@testable import PrefetchCore

@Suite("The block of progress")
struct ProgressBlockTests {
  /// A run of five segments at one moment.
  private static func state(
    _ names: [String] = ["news", "films", "pages", "busy", "late"]
  )
    throws -> ProgressState
  {
    var state = ProgressState()
    var status = RunStatus(
      segments: names.map { RunStatus.Segment(name: $0, phase: .running) }
    )
    for index in status.segments.indices { status.segments[index].open = 1 }
    state.update(to: status, moment(0))
    for name in names { state.apply(.itemsDiscovered(segment: name, count: 4)) }
    status.segments[1].active = 1
    status.segments[2].active = 2
    let trouble = RequestTrouble(host: "x.org", status: 503)
    status.segments[3].wait = RunStatus.Wait(trouble: trouble, rest: .milliseconds(3200))
    status.transfers = [
      RunStatus.Transfer(
        url: try WebURL("https://cdn.example.com/a/big.bin?token=letmein"),
        segment: 1,
        isDocument: false,
        advance: TransferAdvance(
          bytes: 1,
          arrived: 9_000_000,
          position: 24_000_000,
          size: 60_000_000
        )
      )
    ]
    state.update(to: status, moment(1))
    status.transfers[0].advance.arrived = 12_000_000
    status.transfers[0].advance.position = 27_000_000
    state.apply(
      .itemsKept(
        segment: "pages",
        count: 1,
        bytes: SavedBytes(all: 1),
        freshCount: 1,
        freshBytes: SavedBytes(all: 1)
      )
    )
    state.apply(
      .segmentSettled(SegmentResult(name: "news", state: .current, priority: nil, isRequired: true))
    )
    state.update(to: status, moment(2))
    return state
  }

  private static func moment(_ seconds: Int) -> Moment {
    Moment(wall: Instant(seconds: Int64(seconds)), uptime: .seconds(seconds))
  }

  private static func lines(_ state: ProgressState, _ columns: Int, _ rows: Int = 24) -> [String] {
    ProgressBlock(state: state, columns: columns, rows: rows) { $0 }.lines
  }

  @Test("Progress has a line for each segment, each large file and the total")
  func wide() throws {
    let lines = Self.lines(try Self.state(), 80)
    #expect(
      lines == [
        "news              [####################]  100%  4 items",
        "films             [##------------------]   11%   6.0 MB/s     0:16",
        "  big.bin         [#########-----------]   45%  27 MB of 60 MB",
        "pages             [#####---------------]   25%      0 B/s     0:06",
        "busy              [--------------------]    0%  503, again in 4 s (x.org)",
        "late              [--------------------]    0%  queued",
        "total             1 of 20 items, 12 MB, 6.0 MB/s, 0:16 left",
      ]
    )
  }

  @Test(
    "Progress has no bars in a narrow window, and no line as wide as the terminal",
    arguments: 2...120
  )
  func narrow(columns: Int) throws {
    let lines = Self.lines(try Self.state(), columns)
    #expect(lines.count == 7)
    #expect(lines.allSatisfy { ColumnText.width(of: $0) < columns || columns < 2 }, "\(lines)")
    #expect(lines.contains { $0.contains("[") } == (columns >= 60), "\(lines)")
  }

  @Test("Progress shortens names, also with wide letters", arguments: [20, 40, 80])
  func wideNames(columns: Int) throws {
    let names = ["日本語の長い名前のセグメント", "x", "👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀👩‍🚀", "ü", "e"]
    let lines = Self.lines(try Self.state(names), columns)
    #expect(lines.allSatisfy { ColumnText.width(of: $0) < columns }, "\(lines)")
  }

  @Test(
    "Progress never has more lines than the terminal, and counts hidden segments",
    arguments: 1...30
  )
  func rows(rows: Int) throws {
    let names = (1...40).map { "segment-\($0)" }
    let lines = Self.lines(try Self.state(names), 80, rows)
    #expect(lines.count <= max(1, rows - 1))
    guard rows > 3, rows < 43 else { return }
    let shown = lines.count { $0.hasPrefix("segment-") }
    #expect(lines.contains { $0.hasPrefix("and \(40 - shown) more segments: ") }, "\(lines)")
    // Active segments are shown before waiting ones; finished ones are dropped first.
    #expect(lines.contains { $0.hasPrefix("segment-2 ") }, "\(lines)")
  }

  @Test("Progress reports a body without a size, and what a run waits for")
  func words() throws {
    var state = ProgressState()
    var status = RunStatus(segments: [.init(name: "", phase: .discovering)])
    state.update(to: status, Self.moment(0))
    #expect(
      Self.lines(state, 80) == [
        "get               [--------------------]    0%  queued for its manifest"
      ]
    )
    status.segments[0].active = 1
    state.update(to: status, Self.moment(1))
    #expect(
      Self.lines(state, 80) == [
        "get               [--------------------]    0%  reading its manifest"
      ]
    )
    state.apply(.itemsDiscovered(segment: "", count: 1))
    status.segments[0].phase = .running
    status.transfers = [
      RunStatus.Transfer(
        url: try WebURL("https://x.org/"),
        segment: 0,
        isDocument: false,
        advance: TransferAdvance(bytes: 1, arrived: 9_000_000, position: 9_000_000)
      )
    ]
    state.update(to: status, Self.moment(2))
    #expect(Self.lines(state, 80).last == "  x.org           9.0 MB so far")
    status.segments[0].active = 0
    status.segments[0].phase = .publishing
    status.transfers = []
    state.update(to: status, Self.moment(3))
    #expect(Self.lines(state, 80) == ["get               [--------------------]    0%  publishing"])
    var result = SegmentResult(name: "", state: .deferred, priority: nil, isRequired: true)
    result.deferral = Deferral(rule: .window)
    state.apply(.segmentSettled(result))
    #expect(
      Self.lines(state, 80) == [
        "get               [####################]  100%  deferred by window"
      ]
    )
  }

  @Test("Progress counts bytes where every item declares its size")
  func expected() throws {
    var state = ProgressState()
    var status = RunStatus(segments: [.init(name: "a", phase: .running)])
    status.segments[0].expectedBytes = 100
    status.segments[0].active = 1
    state.update(to: status, Self.moment(0))
    state.apply(.itemsDiscovered(segment: "a", count: 2))
    var item = ItemResult(
      url: "https://x.org/a",
      id: "a",
      segments: ["a"],
      state: .cached,
      action: .fetch,
      reason: ""
    )
    item.outcome = .added
    item.size = 90
    state.apply(.itemSettled(item))
    #expect(state.segments[0].fraction == 0.9)
  }

  @Test("Progress has a rate that forgets, and none when nothing moves")
  func pace() {
    var pace = Pace()
    #expect(pace.rate == nil && pace.remaining == nil)
    for second in 0...10 {
      pace.addSample(Double(second) / 100, Int64(second) * 1000, at: .seconds(second))
    }
    #expect(pace.rate == 1000)
    #expect(pace.remaining == .seconds(90))
    for second in 11...30 { pace.addSample(0.1, 10_000, at: .seconds(second)) }
    #expect(pace.rate == 0)
    #expect(pace.remaining == nil)
  }

  @Test(
    "Progress prints the remaining time as a clock",
    arguments: [
      (nil, "-:--"), (.zero, "0:00"), (.milliseconds(400), "0:01"), (.seconds(34), "0:34"),
      (.seconds(725), "12:05"), (.seconds(3723), "1:02:03"),
    ] as [(Duration?, String)]
  )
  func clock(rest: Duration?, text: String) {
    #expect(ProgressWords.clock(rest) == text)
  }

  @Test("Progress is drawn on a capable terminal, and is printed as lines on request")
  func choice() {
    let choice = { (presence: Presence, isTerminal: Bool, canDraw: Bool, isQuiet: Bool) in
      ProgressChoice(
        presence,
        isTerminal: isTerminal,
        canDraw: canDraw,
        isQuiet: isQuiet,
        isVerbose: false
      )
    }
    #expect(choice(.auto, true, true, false) == .block)
    #expect(choice(.always, true, true, false) == .block)
    #expect(choice(.auto, true, false, false) == nil)
    #expect(choice(.always, true, false, false) == .lines)
    #expect(choice(.auto, false, true, false) == nil)
    #expect(choice(.always, false, true, false) == .lines)
    #expect(choice(.never, true, true, false) == nil)
    #expect(choice(.always, true, true, true) == nil)
    let verbose = ProgressChoice(
      .auto,
      isTerminal: true,
      canDraw: true,
      isQuiet: false,
      isVerbose: true
    )
    #expect(verbose == nil)
  }

  @Test("The progress of a mirror names the model or the project")
  func titles() throws {
    var state = try Self.state()
    state.titles = ["news": "hf:acme/tiny"]
    #expect(Self.lines(state, 80).contains { $0.hasPrefix("hf:acme/tiny ") })
    let line = ProgressLines().line(for: .itemsDiscovered(segment: "news", count: 4), state)
    #expect(line == "progress: hf:acme/tiny: 4 items")
  }

  @Test("Progress is printed in lines, more rarely the longer the run takes")
  func lines() throws {
    var lines = ProgressLines()
    let state = try Self.state()
    let shownTimes = (0..<300).filter { lines.line(for: state, Self.moment($0)) != nil }
    #expect(shownTimes == [10, 30, 70, 130, 190, 250])
    #expect(
      lines.line(for: .itemsDiscovered(segment: "news", count: 4), state)
        == "progress: news: 4 items"
    )
    let many = try Self.state((1...21).map { "segment-\($0)" })
    #expect(lines.line(for: .itemsDiscovered(segment: "segment-1", count: 4), many) == nil)
  }
}
