import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Bodies that must have an age")
struct AgeTimelineTests {
  @Test("Random timelines leave the bodies that a model leaves, and read each young body once")
  func timelines() throws {
    var sums = (taken: 0, waits: 0)
    let seeds = Campaign.seed.map { $0...$0 } ?? 1...Campaign.seeds(usually: 40)
    for seed in seeds {
      let timeline = try AgeTimeline(seed: seed)
      for _ in 0..<12 { try timeline.live() }
      sums.taken += timeline.takenCount
      sums.waits += timeline.waitCount
      for problem in timeline.problems.prefix(5) { Issue.record("seed \(seed): \(problem)") }
    }
    #expect(sums.taken > 0 && sums.waits > 0)
    print("\(seeds.count) timelines: \(sums.taken) bodies taken, \(sums.waits) waits")
  }
}

/// Nights of one segment whose items change at random, compared with ``AgeModel``.
private final class AgeTimeline {
  private(set) var problems: [String] = []
  private(set) var takenCount = 0
  private(set) var waitCount = 0
  private let bench = Bench([:])
  private var random: SeededRandom
  private var items: [AgeItem] = []
  private var model: AgeModel
  private var young: Set<String> = []

  init(seed: Int) throws {
    random = SeededRandom(UInt64(seed))
    model = AgeModel(minimum: .seconds(Int.random(in: 1...48, using: &random) * 3600))
    bench.listsKept = true
    for number in 0..<10 {
      let kind = AgeItem.Kind.allCases[number % AgeItem.Kind.allCases.count]
      let age = Int64.random(in: 0...72, using: &random) * 3_600_000
      let published = Instant(milliseconds: bench.clock.now().wall.milliseconds - age)
      items.append(AgeItem(number, kind, published: published))
    }
  }

  func live() throws {
    bench.clock.advance(by: .seconds(Int.random(in: 600...100_000, using: &random)))
    for index in items.indices {
      if Int.random(in: 0..<4, using: &random) == 0 { items[index].version += 1 }
      items[index].isListed = Int.random(in: 0..<20, using: &random) > 0
      bench.site["/\(items[index].name)"] = items[index].page
    }
    bench.policy.allowsYoung = Int.random(in: 0..<15, using: &random) == 0
    var segment = SegmentDeclaration(
      name: "s",
      source: .inline(try items.filter(\.isListed).map { try $0.entry() })
    )
    segment.age.minimum = model.minimum
    segment.age.basis = .published
    let report = try bench.run(segments: [segment])
    try compare(report)
  }

  private func compare(_ report: Report) throws {
    let results = Dictionary(report.items.map { ($0.url, $0) }) { first, _ in first }
    let contents = try bench.contents
    let read = bench.site.requests.filter { $0.method == "GET" }.map { String($0.path.dropFirst()) }
    let now = bench.clock.now().wall
    for item in items {
      guard item.isListed else {
        model.drop(item.name)
        young.remove(item.body)
        continue
      }
      let before = model.stored[item.name]
      let until = model.night(item, at: now, allowsYoung: bench.policy.allowsYoung)
      if until != nil { waitCount += 1 }
      if before != model.stored[item.name] { takenCount += 1 }
      let result = results["https://a.example/\(item.name)"]
      if result?.deferral?.until != until || result?.deferral.map({ $0.rule != .age }) == true {
        problems.append(
          "\(item.name): \(String(describing: result?.deferral)), not \(String(describing: until))"
        )
      }
      if contents[item.name] != model.stored[item.name] {
        problems.append(
          "\(item.name): \(contents[item.name] ?? "-"), not \(model.stored[item.name] ?? "-")"
        )
      }
      if until != nil, read.contains(item.name), !young.insert(item.body).inserted {
        problems.append("\(item.body) was read again while it was too young")
      }
    }
    let isDue = items.contains { $0.isListed && model.stored[$0.name] == nil }
    if (ExitStatus(report) == .deferred) != isDue {
      problems.append("the run ended with \(ExitStatus(report)), although \(isDue) is due")
    }
  }
}
