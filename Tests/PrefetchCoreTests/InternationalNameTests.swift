import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite struct InternationalNameTests {
  @Test("International names are converted to the form of DNS", arguments: InternationalNames.all)
  func ascii(name: String, expected: String?) throws {
    #expect(InternationalName.ascii(name) == expected)
    guard let expected else {
      #expect(throws: WebURL.Fault.self) { try WebURL("https://\(name)/") }
      return
    }
    #expect(try WebURL("https://\(name)/x").host == expected)
    #expect(try WebURL("https://\(name):444/x").string == "https://\(expected):444/x")
  }

  @Test("Other names are only lowercased")
  func plain() {
    #expect(InternationalName.ascii("A.Example.") == "a.example.")
    #expect(InternationalName.ascii("xn--a") == "xn--a")
  }

  @Test(
    "A host that maps to more than a name is refused",
    arguments: ["１２７.0.0.1", "℀.example", "ü%2e.example", "ü example", "ü:x"]
  )
  func refusals(name: String) {
    #expect(throws: WebURL.Fault.self) { try WebURL("https://\(name)/") }
  }
}
