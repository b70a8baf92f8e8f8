import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import Testing

/// How single values are written.
struct ValueTests {
  @Test(
    "Sizes are read with their units",
    arguments: [
      ("0", 0), ("104857600", 104_857_600), ("1kB", 1000), ("1 MB", 1_000_000),
      ("1.5GiB", 1_610_612_736),
      ("100MiB", 104_857_600), ("2TB", 2_000_000_000_000), ("0.1kB", 100),
      ("8000000TB", 8_000_000_000_000_000_000),
    ]
  )
  func readsSizes(_ text: String, _ bytes: Int64) {
    #expect(
      load(yaml: "cache: {max_file_size: \(text)}").canonical("cache.max_file_size")
        == .integer(bytes)
    )
  }

  @Test(
    "An unquoted number means its value, however JSON or YAML writes it",
    arguments: [
      ("1e3", 1000), ("1.0", 1), ("25E-1", 2), ("1.5e+6", 1_500_000), ("-0", 0), ("0e5", 0),
    ]
  )
  func readsNumbersByValue(_ text: String, _ bytes: Int64) {
    let yaml = load(yaml: "cache: {max_file_size: \(text)}")
    let json = load(yaml: "{\"cache\": {\"max_file_size\": \(text)}}")
    for loaded in [yaml, json] {
      #expect(!loaded.diagnostics.containsErrors)
      #expect(loaded.canonical("cache.max_file_size") == .integer(bytes))
    }
    #expect(load(yaml: "network: {concurrency: 4.0}").canonical("network.concurrency") == 4)
    #expect(load(yaml: "name: 1.0").canonical("name") == "1.0")
  }

  @Test(
    "A number outside of its key's range is refused",
    arguments: [
      "cache: {max_file_size: -1e0}", "cache: {max_file_size: 1e30}",
      "cache: {max_file_size: 1e99}",
      "network: {concurrency: 1.5}", "cache: {purge: {max_fraction: 1.0005}}",
      "network: {rate: '10 '}",
    ]
  )
  func refusesNumbers(_ yaml: String) {
    #expect(load(yaml: yaml).diagnostics.containsErrors)
  }

  @Test("Every spelling of version 1 is read", arguments: ["1", "1.0", "1.2", "\"1.10\""])
  func readsVersions(_ text: String) {
    #expect(load(yaml: "version: \(text)").canonical("version") == .integer(1))
  }

  @Test("Other versions are refused", arguments: ["2", "1.", "1.x", "01", "1.2.3", "true", "0.9"])
  func refusesVersions(_ text: String) {
    #expect(load(yaml: "version: \(text)").codes.contains("config.bad-value"))
  }

  @Test("The largest number of transfers is accepted", arguments: [("unlimited", 1024), ("7", 7)])
  func readsConcurrency(_ text: String, _ count: Int64) {
    let loaded = load(yaml: "network: {concurrency: \(text)}")
    #expect(loaded.canonical("network.concurrency") == .integer(count))
  }

  @Test("A rule reads methods in any case, and without `match` it applies to all requests")
  func readsRules() {
    let loaded = load(
      yaml: "transport: {rules: [{match: {method: hEaD}}, {headers: {X: y}}]}\nsegments: []"
    )
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.policy.connections.rules.map(\.method) == [.head, nil])
    #expect(loaded.configuration.policy.connections.rules[1].url == nil)
  }

  @Test("The headers of a segment override those of the defaults by name")
  func mergesHeaders() {
    let loaded = load(
      yaml: """
        defaults: {headers: {Accept: a, X-One: "1"}}
        segments:
          - {name: a, urls: [], headers: {x-one: "2", X-Two: "3"}}
          - {name: b, urls: []}
          - {name: c, urls: [], headers: {}}
        """
    )
    let headers = loaded.configuration.segments.map { segment in
      Dictionary(uniqueKeysWithValues: segment.declaration.headers.map { ($0.name, $0.value) })
    }
    #expect(headers[0] == ["Accept": "a", "x-one": "2", "X-Two": "3"])
    #expect(headers[1] == ["Accept": "a", "X-One": "1"])
    #expect(headers[2] == headers[1])
  }

  @Test(
    "Invalid sizes are refused",
    arguments: [
      "-1", "1e9", "1  MB", ".5GB", "1.GB", "MB", "1MB/s", "99999999999999999999",
      "9999999999TB", "0x10",
    ]
  )
  func refusesSizes(_ text: String) {
    #expect(load(yaml: "cache: {max_file_size: \"\(text)\"}").diagnostics.containsErrors)
  }

  @Test(
    "Durations are read with their units",
    arguments: [
      ("10s", 10), ("5m", 300), ("2h", 7200), ("7d", 604_800), ("90", 90),
      ("1.5 h", 5400), ("0", 0),
    ]
  )
  func readsDurations(_ text: String, _ seconds: Int64) {
    #expect(load(yaml: "cache: {ttl: \(text)}").canonical("cache.ttl") == .integer(seconds))
  }

  @Test(
    "Invalid durations are refused",
    arguments: ["5 minutes", "1h30m", "-5s", "s", "1 h 30 m", "5y", "9999999999999999d"]
  )
  func refusesDurations(_ text: String) {
    #expect(load(yaml: "cache: {ttl: \"\(text)\"}").diagnostics.containsErrors)
  }

  @Test(
    "Rates are read with their units",
    arguments: [
      ("20MB/s", 20_000_000), ("8Mbps", 1_000_000), ("1MiB/s", 1_048_576), ("500", 500),
      ("2M/s", 2_000_000), ("2 m/s", 2_000_000), ("1Ki/s", 1024), ("3k/s", 3000), ("3K/s", 3000),
      ("1.5g/s", 1_500_000_000), ("7B/s", 7), ("7mb/s", 7_000_000),
    ]
  )
  func readsRates(_ text: String, _ rate: Int64) {
    #expect(load(yaml: "network: {rate: \(text)}").canonical("network.rate") == .integer(rate))
  }

  @Test(
    "Timetables of rates are read",
    arguments: [
      ("08:00 2MB/s, 18:00 unlimited", "08:00 2000000, 18:00 unlimited"),
      (
        "mon-wed 08:00 8Mbps,sat, sun 00:00 5 MiB/s",
        "mon,tue,wed 08:00 1000000, sat,sun 00:00 5242880"
      ),
      ("08:00 500", "08:00 500"),
    ]
  )
  func readsTimetables(_ text: String, _ canonical: String) {
    let loaded = load(yaml: "network: {rate: \"\(text)\"}")
    #expect(!loaded.diagnostics.containsErrors)
    #expect(loaded.canonical("network.rate") == .string(canonical))
    #expect(
      load(yaml: "network: {rate: \"\(canonical)\"}").canonical("network.rate")
        == .string(canonical)
    )
  }

  @Test(
    "Invalid timetables are refused",
    arguments: [
      ("08:00 2MB/s, 18:00", "`18:00` is not a time and rate"),
      ("08:00 2MB/s, 08:00 unlimited", "two rates begin on mon at 08:00"),
      ("25:00 2MB/s", "`25:00` is not a time of day"),
      ("08:00 2MB", "`2MB` has the unknown rate unit `MB`"),
      ("08:00 0", "a rate of `0` would never end"),
      ("somday 08:00 1MB/s", "`somday` is not a day of the week"),
    ]
  )
  func refusesTimetables(_ text: String, _ message: String) {
    let loaded = load(yaml: "network: {rate: \"\(text)\"}")
    #expect(loaded.diagnostics.map(\.message) == [message])
  }

  @Test(
    "Windows are read with their weekdays",
    arguments: [
      ("22:00-06:00", "22:00-06:00"), ("sat,sun 00:00-24:00", "sat,sun 00:00-24:00"),
      ("Mon-Fri 09:00-17:30", "mon,tue,wed,thu,fri 09:00-17:30"),
      ("fri-mon 01:00-02:00", "mon,fri,sat,sun 01:00-02:00"),
      ("mon-sun 00:00-00:01", "00:00-00:01"),
    ]
  )
  func readsWindows(_ text: String, _ canonical: String) {
    let loaded = load(yaml: "network: {windows: [\"\(text)\"]}")
    #expect(loaded.canonical("network.windows.0") == .string(canonical))
  }

  @Test(
    "A clock has two digits for hours and two for minutes",
    arguments: ["+5:00-06:00", "05:+1-06:00", "5:00-06:00", "05:00-6:00"]
  )
  func refusesClocks(_ text: String) {
    #expect(load(yaml: "network: {windows: [\"\(text)\"]}").codes.contains("config.bad-clock"))
  }

  @Test("A window past midnight belongs to the day it begins on")
  func countsPastMidnight() throws {
    let window = try #require(
      load(yaml: "network: {windows: [sat 22:00-06:00]}").configuration.network.rules.windows?.first
    )
    #expect(window.days == [.saturday])
    #expect(window.start == 1320 && window.end == 1800)
  }

  @Test(
    "Booleans are the usual words in one style of case",
    arguments: [
      ("true", true), ("Yes", true), ("ON", true), ("off", false), ("No", false), ("FALSE", false),
      ("\"no\"", false),
    ]
  )
  func readsBooleans(_ text: String, _ value: Bool) {
    #expect(
      load(yaml: "redirects: {follow: \(text)}").canonical("redirects.follow") == .bool(value)
    )
  }

  @Test(
    "Words that only look like booleans are refused",
    arguments: ["y", "1", "0", "tRue", "oui", "[]"]
  )
  func refusesBooleans(_ text: String) {
    #expect(load(yaml: "redirects: {follow: \(text)}").codes == ["config.wrong-type"])
  }

  @Test(
    "Text stays as it was written",
    arguments: ["no", "1.10", "22:00", "0123", "null", "0x1F", "1_000"]
  )
  func keepsText(_ text: String) {
    let loaded = load(yaml: "vars: {v: \(text)}\nbundle_id: ${var:v}")
    #expect(loaded.configuration.bundleID == text)
  }

  @Test(
    "Dates are read as days or as times",
    arguments: [
      ("2027-06-30", "2027-06-30T00:00:00.000Z"),
      ("2027-06-30T12:30:00+02:00", "2027-06-30T10:30:00.000Z"),
      ("2024-02-29T23:59:59.25Z", "2024-02-29T23:59:59.250Z"),
      ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z"),
      ("2000-03-01", "2000-03-01T00:00:00.000Z"),
    ]
  )
  func readsDates(_ text: String, _ canonical: String) {
    let loaded = load(
      yaml: "segments: [{name: a, urls: [{url: 'https://h.example/', expires: \"\(text)\"}]}]"
    )
    #expect(loaded.canonical("segments.0.urls.0.expires") == .string(canonical))
  }

  @Test(
    "A digest that begins with a slash is read after each prefix",
    arguments: ["", "sha256/", "sha256//"]
  )
  func readsSlashedPins(_ prefix: String) {
    let text = prefix + "/Ou9yMFgf5fZpp7ecLhDySNUQkMcCS+Zl3t0SSiYn8g="
    let loaded = load(yaml: "tls: {pins: {a.example: {leaf: [\"\(text)\"]}}}")
    let digest = loaded.configuration.pins["a.example"]?.leaf?.first
    #expect(
      digest.map { Base64.encode($0.bytes) } == "/Ou9yMFgf5fZpp7ecLhDySNUQkMcCS+Zl3t0SSiYn8g="
    )
  }

  @Test(
    "Pins are read in each usual form",
    arguments: [
      "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ]
  )
  func readsPins(_ text: String) {
    let loaded = load(yaml: "tls: {pins: {a.example: {leaf: [\"\(text)\"]}}}")
    #expect(
      loaded.configuration.pins["a.example"]?.leaf?.first?.hexadecimal
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
  }

  @Test(
    "Keys are read in each style",
    arguments: [
      "max_file_size", "maxFileSize", "max-file-size", "MaxFileSize",
    ]
  )
  func readsKeys(_ key: String) {
    #expect(load(yaml: "cache: {\(key): 7}").configuration.policy.maximumFileSize == 7)
  }

  @Test("Keys of users are ignored")
  func passesOver() {
    #expect(
      load(yaml: "segments: []\nx_note: &n 5\nx-other: [1]\ncache: {x_y: 1, max_file_size: *n}")
        .diagnostics
        .isEmpty
    )
  }

  @Test("A domain's synonyms agree or contradict each other")
  func comparesSynonyms() {
    let yaml = """
      segments: []
      NSAppTransportSecurity:
        NSExceptionDomains:
          a.example: {NSThirdPartyExceptionRequiresForwardSecrecy: no, NSExceptionRequiresForwardSecrecy: no}
      """
    let loaded = load(yaml: yaml)
    #expect(loaded.codes == ["config.old-spelling"])
    #expect(
      loaded.configuration.transportSecurity.exceptions["a.example"]?.rule.requiresForwardSecrecy
        == false
    )
    #expect(load(yaml: "license: abcdef\napi_key: abcdef").codes == ["config.duplicate-key"])
  }

  @Test("Segments begin with the defaults, mappings key by key")
  func usesDefaults() {
    let loaded = load(
      yaml: """
        defaults: {ttl: 1h, required: no, headers: {X-A: b}, expect: {min_size: 5}}
        manifests: https://h.example/{segment}.json
        segments: [a, {name: b/c, required: yes, expect: {max_size: 9}}]
        """
    )
    #expect(loaded.rendered == "\n")
    let segments = loaded.configuration.segments
    #expect(segments.map(\.declaration.isRequired) == [false, true])
    #expect(
      segments.map(\.declaration.lifetime) == Array(repeating: .atMost(.seconds(3600)), count: 2)
    )
    let expectation = segments[1].declaration.expectation
    #expect(expectation.minimumSize == 5 && expectation.maximumSize == 9)
    #expect(segments[1].manifest?.string == "https://h.example/b%2Fc.json")
    #expect(
      load(yaml: "defaults: {manifest: 'https://h.example/'}").codes == ["config.unknown-key"]
    )
  }

  @Test("Ten thousand items with more than their URL are read")
  func readsMany() {
    let items = (0..<10_000).map { "{\"url\": \"https://h.example/\($0)\", \"seconds\": 1}" }
    var world = TestWorld()
    world.files["p.json"] = Array(
      "{\"segments\": [{\"name\": \"a\", \"urls\": [\(items.joined(separator: ","))]}]}".utf8
    )
    let loaded = world.load("p.json")
    #expect(loaded.rendered == "\n")
    #expect(loaded.configuration.segments[0].urls.count == 10_000)
  }
}
