import Testing

@testable import PrefetchServe

@Suite("Targets of requests to a cache")
struct TargetTests {
  @Test(
    arguments: [
      ("/h.example/a?b=c", .address("h.example/a?b=c")), ("/h.example", .address("h.example/")),
      ("/h.example:8080/a/", .address("h.example:8080/a/")),
      ("/h.example%3A8080/a", .address("h.example:8080/a")),
      ("/[::1]:80/a", .address("[::1]:80/a")), ("/%5B::1%5D/a", .address("[::1]/a")),
      ("/h.example/./a/./b", .address("h.example/a/b")),
      ("/h.example/a%2Fb", .address("h.example/a%2Fb")),
      ("/h.example?q", .address("h.example/?q")), ("/-/health", .health),
      ("/-/item/p/i", .item(provider: "p", id: "i", name: nil)),
      ("/-/item/-/i/", .item(provider: nil, id: "i", name: nil)),
      ("/-/item/a%2Fb/c%20d/e", .item(provider: "a/b", id: "c d", name: "e")),
      ("/", .nowhere), ("//h.example/a", .nowhere), ("/-/other", .nowhere),
      ("/-/item/p", .nowhere), ("/-/item/p/i/a/b/c/d", .nowhere),
      ("/-/item/p/i/v1/1.ts", .item(provider: "p", id: "i", name: "v1/1.ts")),
      ("/h.example/../a", .malformed), ("/h.example/%2e%2E", .malformed), ("/..", .malformed),
      ("/user@h.example/a", .malformed), ("/h%00.example/a", .malformed), ("a", .malformed),
      ("/h.example/a b", .malformed), ("/h%2Fexample/a", .malformed), ("/%zz/a", .malformed),
      ("/-/item/p/%ff", .malformed), ("/h.example/..#a", .malformed),
      ("/h.example/a?b#c", .malformed),
    ] as [(String, CacheTarget)]
  )
  func targets(text: String, expected: CacheTarget) {
    #expect(CacheTarget(text) == expected)
  }

  @Test(
    "A base makes every target relative to it",
    arguments: [
      ("/a/b?c", .address("https://r.example/npm/a/b?c")),
      ("/", .address("https://r.example/npm/")),
      ("/-/npm/v1", .address("https://r.example/npm/-/npm/v1")), ("/-/health", .health),
      ("/@us%2fright", .address("https://r.example/npm/@us%2fright")), ("/a/../b", .malformed),
      ("/..#a/b", .malformed),
    ] as [(String, CacheTarget)]
  )
  func below(text: String, expected: CacheTarget) {
    #expect(CacheTarget(text, below: "https://r.example/npm/") == expected)
  }
}
