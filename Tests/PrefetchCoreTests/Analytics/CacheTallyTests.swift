import PrefetchCore
import Testing

@Suite("Tally of requests to a cache")
struct CacheTallyTests {
  private let prefixes = MetricPrefixes([
    "Cart": ["https://a.example/cart/", "https://b.example"], "Home": ["https://a.example/"],
  ])

  @Test(
    "A URL counts for each metric with a matching prefix",
    arguments: [
      ("https://a.example/cart/1", ["Cart", "Home"]), ("https://a.example/x", ["Home"]),
      ("https://b.example/", ["Cart"]), ("https://b.example.evil/", []),
      ("http://a.example/cart/1", []), ("https://a.example/cart", ["Home"]),
    ] as [(String, [String])]
  )
  func metrics(url: String, names: [String]) {
    #expect(prefixes.names(counting: url) == names)
  }

  @Test("Tallied requests are taken once, by URL and metric")
  func reported() {
    var tally = CacheTally(prefixes)
    for isHit in [true, true, false] { tally.count("https://a.example/cart/1", isHit: isHit) }
    tally.count("https://c.example/", isHit: false)
    let figures = tally.drain()
    #expect(figures.urls.map(\.url) == ["https://a.example/cart/1", "https://c.example/"])
    #expect(figures.urls.map(\.count.fetches) == [2, 0])
    #expect(figures.urls.map(\.count.misses) == [1, 1])
    #expect(figures.metrics.map(\.name) == ["Cart", "Home"])
    #expect(figures.metrics.map(\.count) == [3, 3])
    #expect(tally.drain().urls.isEmpty)
  }

  @Test("A tally uses bounded memory and counts every response")
  func bounded() {
    var tally = CacheTally(MetricPrefixes([:]))
    for number in 0..<3000 {
      for _ in 0..<(number < 10 ? 2 : 1) {
        tally.count("https://a.example/\(number)", isHit: number % 3 != 0)
      }
    }
    let figures = tally.drain()
    #expect(figures.urls.count == 50)
    #expect(figures.urls.prefix(10).allSatisfy { $0.count.fetches + $0.count.misses == 2 })
    let reported = figures.urls.reduce(0) { $0 + $1.count.fetches + $1.count.misses }
    #expect(reported + figures.others.fetches + figures.others.misses == 3010)
  }
}
