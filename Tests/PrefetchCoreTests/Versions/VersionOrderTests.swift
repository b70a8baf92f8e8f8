import PrefetchCore
import Testing

@Suite struct VersionOrderTests {
  private static let huge = "1" + String(repeating: "0", count: 4000)

  @Test(
    "An order sorts versions, oldest first",
    arguments: [
      (
        VersionOrder.version,
        [
          "0", "1.0.dev1", "1.0a1.dev1", "1.0a1", "1.0-beta.2", "1.0c3", "1.0rc10", "1.0rc10.post1",
          "1.0", "1.0+abc.1", "1.0+1", "1.0-1", "1.0.post2.dev1", "1.0.post2", "1.0.1", "1.2",
          "v1.10", huge, "\(huge)1", "1!0.1",
        ]
      ),
      (
        .semver,
        [
          "1.2", "01.2.3", "nightly-9", "0.0.0-0", "1.0.0-1", "1.0.0-alpha", "1.0.0-alpha.1",
          "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
          "v1.0.0+b", "1.0.1", "1.2.0", "1.10.0", "\(huge).0.0", "\(huge)1.0.0",
        ]
      ),
      (
        .debian,
        [
          "1.0~~", "1.0~~a", "1.0~", "1.0~rc1-1", "1.0~rc1-2", "1.0-1~bpo12+1", "1.0-1", "1.0-1+b1",
          "1.0-1+deb12u2", "1.0-1+deb12u10", "1.0-2", "1.0a", "1.0+dfsg-1", "1.0.1-1", "1.10-1",
          huge, "\(huge)1", "1:0.1-1",
        ]
      ),
      (
        .natural,
        [
          "", "1.0", "1.0-rc1", "1.0.1", "1.1.1", "1.1.1a", "1.1.1w", "v1.2", "1.10", "2a9", "2a10",
          "2b", "24w18a", huge, "\(huge)1", "a", "b",
        ]
      ),
      (
        .date,
        [
          "x", "1999-12-31", "2023.12", "2023-12-31-rc1", "2024_01_02", "20240103",
          "build.202401031530.7", "20240103153001", "2024-02", "2024.02.29",
        ]
      ),
    ]
  )
  func chain(order: VersionOrder, chain: [String]) {
    let keys = chain.map { order.key(of: $0) }
    for (index, pair) in zip(keys, keys.dropFirst()).enumerated() {
      guard let older = pair.0, let newer = pair.1 else {
        Issue.record("\(chain[index]) or \(chain[index + 1]) has no key")
        continue
      }
      #expect(older < newer, "\(chain[index].prefix(30)) < \(chain[index + 1].prefix(30))")
    }
  }

  @Test(
    "Spellings of one version are equal",
    arguments: [
      (VersionOrder.version, "1.0", "1"), (.version, "v1.0", "1.0.0"), (.version, "1.0RC1", "1c1"),
      (.version, "1.0-alpha", "1.0a0"), (.version, "1.0-r4", "1.0.post4"),
      (.version, "1.0+A-b", "1.0+a.B"), (.version, "0!1_preview_3", "01.pre3"),
      (.version, "1.0.DEV", "1.dev0"), (.semver, "1.0.0+1", "v1.0.0+2"),
      (.debian, "0:1.0", "1.0-0"), (.debian, "1.00", "1.0"), (.debian, "1a", "1a0"),
      (.natural, "1.01", "1.1"), (.natural, "v1", "1"),
      (.date, "2024-01-02", "nightly-20240102-b7"), (.date, "2024-01", "2024.01.01"),
    ]
  )
  func equality(order: VersionOrder, a: String, b: String) {
    #expect(order.key(of: a) == order.key(of: b))
  }

  @Test(
    "A text that is no PEP 440 version has no key",
    arguments: [
      "", "a", "1.", "1.0..1", "1.0-rc-1-x", "1.1.1w", "2024-05-07", "1.0+", "1.0+a..b", "1!", "!1",
      "1.0 ", "1.0-", "1.0.post1.rc1", "1.0é", "v", "vv1",
    ]
  )
  func notPython(text: String) {
    #expect(VersionOrder.version.key(of: text) == nil)
  }

  @Test(
    "A number that is no date of the calendar is none",
    arguments: [
      "12345678", "20241301", "20240230", "2024-13", "2024-1-2", "202401", "202401021",
      "20240102250",
      "202401022500", "12024-01-02", "2024-0102", "18991231",
    ]
  )
  func notDate(text: String) {
    let listed = Instant(seconds: 5)
    #expect(
      VersionOrder.date.key(of: text).map { $0 < VersionOrder.date.key(of: "1970-01-01") ?? $0 }
        == true
    )
    #expect(
      VersionOrder.date.key(of: text, listed: listed)
        == VersionOrder.date.key(of: "x", listed: listed)
    )
  }

  @Test("A date in the name counts before the list's, and they compare with each other")
  func listedDate() throws {
    func key(_ text: String, _ seconds: Int64?) throws -> VersionKey {
      try #require(VersionOrder.date.key(of: text, listed: seconds.map { Instant(seconds: $0) }))
    }
    // 2024-01-02 begins at 1,704,153,600.
    #expect(try key("2024-01-02", 9_999_999_999) < key("b", 1_704_153_601))
    #expect(try key("a", 1_704_153_599) < key("20240102", nil))
    #expect(try key("a", -1) < key("a", 0))
    #expect(try key("z", nil) < key("a", -1))
  }
}
