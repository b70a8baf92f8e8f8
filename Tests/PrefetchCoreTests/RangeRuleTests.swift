import PrefetchCore
import Testing

@Suite("Number of connections for one body")
struct RangeRuleTests {
  /// Plays half-second windows with a sum of rates for each number of connections.
  private struct Play {
    var rule: RangeRule
    var received: Int64 = 0
    var now = Duration.zero
    var connections = 1
    var rest: Int64 = 10_000_000_000
    var fastestOther: Int64?
    var decisions: [RangeRule.Decision] = []

    init(_ limits: RangeLimits = RangeLimits(connections: 8)) {
      rule = RangeRule(limits)
      observe()
    }

    mutating func observe(isEachMoving: Bool = true) {
      var observation = RangeRule.Observation(
        received: received,
        rest: rest,
        connections: connections
      )
      observation.isEachMoving = isEachMoving
      observation.fastestOther = fastestOther
      let decision = rule.observe(observation, at: now)
      switch decision {
      case .wait: return
      case .grow(let count), .shrink(let count):
        connections = count
        decisions.append(decision)
      }
    }

    mutating func play(_ windows: Int, megabytesPerSecond: (Int) -> Int64) {
      for _ in 0..<windows {
        now += .milliseconds(500)
        received += megabytesPerSecond(connections) * 500_000
        observe()
      }
    }
  }

  @Test("Connections double while the sum rises, up to the limit")
  func doubles() {
    var play = Play()
    play.play(20) { Int64($0) * 20 }
    #expect(play.decisions == [.grow(to: 2), .grow(to: 4), .grow(to: 8)])
    #expect(play.rule.target == 8)
  }

  @Test("A number is a limit", arguments: [1, 2, 3, 5])
  func limited(_ most: Int) {
    var play = Play(RangeLimits(connections: most))
    play.play(20) { Int64($0) * 20 }
    #expect(play.connections == most)
  }

  @Test("A trial begins after 16 MiB, and ends when the sum does not rise by a fifth")
  func useless() {
    var play = Play()
    play.play(3) { _ in 10 }
    #expect(play.decisions.isEmpty)
    play.play(3) { $0 == 1 ? 10 : 11 }
    #expect(play.decisions == [.grow(to: 2)])
    play.play(20) { $0 == 1 ? 10 : 11 }
    #expect(play.decisions == [.grow(to: 2), .shrink(to: 1)])
  }

  @Test("More connections that bring nothing are given back, the useful ones stay")
  func ceiling() {
    var play = Play()
    play.play(30) { Int64(min($0, 2)) * 20 }
    #expect(play.decisions == [.grow(to: 2), .grow(to: 4), .shrink(to: 2)])
  }

  @Test("A body that is nearly complete tries no more connections")
  func nearlyComplete() {
    var play = Play()
    play.rest = 19_000_000
    play.play(20) { Int64($0) * 20 }
    #expect(play.decisions.isEmpty)
    play.rest = 21_000_000
    play.play(20) { Int64($0) * 20 }
    #expect(play.decisions == [.grow(to: 2)])
  }

  @Test("A body as fast as the host's other connections keeps one")
  func usual() {
    var play = Play()
    play.fastestOther = 21_000_000
    play.play(30) { _ in 20 }
    #expect(play.decisions.isEmpty)
  }

  @Test("A body that stays below the host's other connections gets a second, not after one lull")
  func slow() {
    var play = Play()
    play.fastestOther = 30_000_000
    for _ in 0..<5 {
      play.play(3) { _ in 1 }
      play.play(1) { _ in 29 }
    }
    #expect(play.decisions.isEmpty)
    play.play(4) { _ in 1 }
    #expect(play.decisions == [.grow(to: 2)])
  }

  @Test("New connections have time to begin before they are judged")
  func slowStart() {
    var play = Play()
    play.play(2) { _ in 20 }
    #expect(play.decisions == [.grow(to: 2)])
    for _ in 0..<5 {
      play.now += .milliseconds(500)
      play.received += 10_000_000
      play.observe(isEachMoving: false)
    }
    #expect(play.decisions.count == 1)
    play.play(1) { _ in 40 }
    #expect(play.decisions == [.grow(to: 2), .grow(to: 4)])
    // Connections that never begin count as useless.
    for _ in 0..<12 {
      play.now += .milliseconds(500)
      play.received += 20_000_000
      play.observe(isEachMoving: false)
    }
    #expect(play.decisions.last == .shrink(to: 2))
  }

  @Test("Connections for which there was no room are asked for again")
  func noRoom() {
    var play = Play()
    play.play(2) { _ in 20 }
    play.rule.recordStart(connections: 1)
    play.connections = 1
    #expect(play.rule.target == 1)
    play.play(1) { _ in 20 }
    #expect(play.decisions == [.grow(to: 2), .grow(to: 2)])
  }

  @Test("A body that fell back to one connection stays there")
  func fallen() {
    var play = Play()
    play.play(2) { _ in 20 }
    play.rule.limit(to: 1)
    play.connections = 1
    play.play(20) { _ in 20 }
    #expect(play.decisions == [.grow(to: 2)])
    #expect(play.rule.target == 1)
  }
}
