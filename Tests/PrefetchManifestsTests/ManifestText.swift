import PrefetchCore
import PrefetchTestSupport

@testable import PrefetchManifests

/// Random manifests from a seed, with damage.
struct ManifestText {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  }

  static let rounds = Campaign.documents(usually: 5_000)

  static let source = ManifestSource(
    bytes: .file("manifest"),
    base: try? WebURL("https://cdn.example/app/manifest.json"),
    mime: nil,
    name: "manifest"
  )

  mutating func random(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int((state >> 11) % UInt64(bound))
  }

  private mutating func pick(_ choices: [String]) -> String {
    choices[random(choices.count)]
  }

  mutating func document() -> [UInt8] {
    var members = ["\"format\": \"prefetch-manifest\"", "\"version\": 1"]
    if random(2) == 0 { members.append("\"base\": \(pick(Self.bases))") }
    if random(3) == 0 { members.append(pick(Self.members)) }
    let items = (0..<random(6)).map { _ in item() }.joined(separator: pick([",", ", ", ",\n "]))
    members.append("\"items\":\(pick(["", " "]))[\(items)]")
    let order = random(4) == 0 ? members.sorted { $0.count < $1.count } : members
    return Array("{\(order.joined(separator: ",\n"))}\n".utf8)
  }

  mutating func item() -> String {
    if random(8) == 0 { return pick(Self.urls) }
    var members = ["\"url\":\(pick(Self.urls))"]
    for (key, values) in Self.values where random(4) == 0 {
      members.append("\"\(key)\":\(pick([" ", ""]))\(pick(values))")
    }
    return "{\(members.joined(separator: pick([",", ", ", "\r\n,"])))}"
  }

  /// A few bytes taken away, put in or changed.
  mutating func mutated(_ text: [UInt8]) -> [UInt8] {
    var bytes = text
    for _ in 0...random(3) where !bytes.isEmpty {
      let index = random(bytes.count)
      switch random(6) {
      case 0: bytes.remove(at: index)
      case 1: bytes.insert(UInt8(random(256)), at: index)
      case 2: bytes[index] = UInt8(random(256))
      case 3:
        let marks = Array("{}[]\",:\\ \n\r0n/".utf8)
        bytes.insert(marks[random(marks.count)], at: index)
      case 4: bytes.removeSubrange(index..<min(bytes.count, index + random(20)))
      default:
        let end = min(bytes.count, index + random(30))
        bytes.insert(contentsOf: bytes[index..<end], at: random(bytes.count))
      }
    }
    return bytes
  }

  private static let hexadecimal = String(repeating: "aB01", count: 16)
  private static let base64 = "q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k="
  private static let strong = String(repeating: "q83v", count: 21) + "qw=="

  private static let bases = [
    "\"https://b.example/d/\"", "\"../x/\"", "\"https://b.example\"", "null", "\"ftp://x/\"", "7",
  ]

  private static let members = [
    "\"generated\": \"2026-11-20T05:00:00Z\"", "\"priority\": 5", "\"priority\": 0",
    "\"segment\": \" news \"", "\"x\": {\"items\": [1, {\"a\": \"}]\"}]}", "\"bundle_id\": 1.5e3",
    "\"policy\": {\"daily_limit\": 5}", "\"network\": {\"power\": \"coal\"}",
    "\"next\": \"2\"", "\"next\": \"https://x.example/\"",
    "\"alternates\": [\"https://m.example/\"]",
    "\"expires\": \"soon\"", "\"\\u0069tems\": []", "\"base\\u0000\": 1",
  ]

  private static let urls = [
    "\"a\"", "\"img/b.png\"", "\"/c\"", "\"https://x.example/d\"", "\"https://x.example/e?f\"",
    "\"a b\"", "\"../up\"", "\"\\u00e4\"", "\"ä\"", "\"\"", "\"https://\"",
    "\"http://x.example:80/\"",
    "\"long/\(String(repeating: "x", count: 40))\"", "null", "5", "true", "[]", "{}", "\"a#b\"",
    "\"x:y\"", "\"a\\\\b\"",
  ]

  private static let values: [(String, [String])] = [
    ("id", ["\"1\"", "\"2\"", "\"\"", "3", "null", "\"ä\"", "\"\\n\""]),
    ("provider", ["\"p\"", "\"q\"", "null", "1"]),
    ("type", ["\"image\"", "\"file\"", "null", "[]"]),
    ("mime", ["\"image/png\"", "null"]),
    ("network", ["{\"metered\": false}", "{\"allow\": \"x\"}", "null", "1", "{}"]),
    ("size", ["0", "12", "123456789012345678", "-1", "1.5", "01", "\"1\"", "null", "1e2", "-0"]),
    (
      "digests",
      [
        "{\"sha256\":\"\(hexadecimal)\"}", "{\"sha256\": \"\(base64)\"}", "{}", "null", "[]",
        "{\"sha512\":\"\(strong)\"}", "{\"sha256\":\"\(hexadecimal)x\"}", "{\"sha256\": null}",
        "{\"md5\": \"\(String(repeating: "0", count: 32))\"}", "{\"SHA-256\":\"\(hexadecimal)\"}",
        "{\"crc32\": \"x\", \"sha256\": \"\(hexadecimal)\"}", "{\"sha256\":1,\"sha256\":2}",
      ]
    ),
    (
      "integrity",
      [
        "\"sha256-\(base64)\"", "\"sha512-\(strong)\"", "\"sha512-\(strong)?x sha256-\(base64)\"",
        "\"sha384-x\"", "\"\"", "null", "\"x\"", "\"sha256-\(hexadecimal.prefix(44))\"",
      ]
    ),
    ("title", ["\"T\"", "1", "null", "\"\u{1F600}\""]),
    ("etag", ["\"\\\"x\\\"\"", "\"x\""]),
    ("ttl", ["\"15m\"", "\"immutable\"", "\"soon\"", "5"]),
    ("expires", ["\"2026-11-22\"", "\"x\"", "null"]),
    ("priority", ["1", "100", "101", "0", "\"5\""]),
    ("path", ["\"a/b\"", "\"../x\"", "\"\""]),
    ("headers", ["{\"X-A\": \"b\"}", "{\"Host\": \"x\"}", "null"]),
    ("mtime", ["\"2026-11-22\"", "\"2026-11-22T01:02:03.5Z\"", "1", "null", "\"x\""]),
    (
      "alternates",
      ["[\"y\"]", "[]", "null", "[{\"url\": \"z\", \"priority\": 2}]", "[\"ftp://x\"]", "\"y\""]
    ),
    ("categories", ["[\"news\"]", "[]", "[1, true, null, false]", "[[1]]", "[1,]"]),
    ("x", ["1", "\"y\"", "1.5", "-3"]), ("y", ["{\"a\": {\"b\": [[]]}}", "\"z\""]),
  ]
}
