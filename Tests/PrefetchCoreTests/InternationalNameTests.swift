import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite struct InternationalNameTests {
  @Test("Names are asked for as the net knows them", arguments: InternationalNames.all)
  func ascii(name: String, expected: String?) throws {
    #expect(InternationalName.ascii(name) == expected)
    guard let expected else {
      #expect(throws: WebURL.Fault.self) { try WebURL("https://\(name)/") }
      return
    }
    #expect(try WebURL("https://\(name)/x").host == expected)
    #expect(try WebURL("https://\(name):444/x").string == "https://\(expected):444/x")
  }

  @Test("Names of nothing else are only written small")
  func plain() {
    #expect(InternationalName.ascii("A.Example.") == "a.example.")
    #expect(InternationalName.ascii("xn--a") == "xn--a")
  }

  @Test(
    "What is mapped to more than a name is none",
    arguments: ["１２７.0.0.1", "℀.example", "ü%2e.example", "ü example", "ü:x"]
  )
  func refusals(name: String) {
    #expect(throws: WebURL.Fault.self) { try WebURL("https://\(name)/") }
  }
}
