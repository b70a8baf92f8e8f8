import Glibc
import PrefetchCore
import Testing

@testable import PrefetchManifests

/// Every reader against documents that somebody has been at.
@Suite struct MutationTests {
  /// How many documents to try of each format: 200,000 where `PREFETCH_ROUNDS` is 100 or more.
  static let rounds: Int = {
    let asked = unsafe getenv("PREFETCH_ROUNDS").flatMap { unsafe Int(String(cString: $0)) } ?? 0
    return asked >= 100 ? 200_000 : max(1_500, asked * 1_500)
  }()

  @Test(
    "No document brings a reader down, and every entry that comes of one obeys the rules",
    arguments: MutationSamples.all.map(\.format)
  )
  func mutations(format: ManifestFormat) throws {
    let samples = try #require(MutationSamples.all.first { $0.format == format }).samples
    var mutator = Mutator(seed: 0x5EED + UInt64(samples[0].utf8.count), samples: samples)
    var (good, bad, broken) = (0, 0, 0)
    for round in 0..<Self.rounds {
      let bytes = mutator.next()
      var source = ManifestSource(
        bytes: .file("manifest"),
        base: round % 3 == 0 ? nil : Self.base,
        mime: nil,
        name: "manifest"
      )
      if round % 2 == 0 { source.rules.format = format }
      switch readBytes(bytes, source) {
      case .success(let manifest):
        if manifest.entries.isEmpty, manifest.parts.isEmpty {
          bad += 1
        } else {
          good += 1
        }
        if let fault = Self.fault(of: manifest) {
          broken += 1
          Issue.record("\(fault): \(String(decoding: bytes, as: UTF8.self))")
        }
      case .failure(let failure):
        bad += 1
        if failure.message.isEmpty { Issue.record("a failure without words") }
      }
      guard broken < 5 else { return }
    }
    // Neither all of it may be refused nor all of it taken, or nothing has been tried.
    #expect(good > Self.rounds / 50, "\(format): \(good) good, \(bad) bad")
    #expect(bad > Self.rounds / 50, "\(format): \(good) good, \(bad) bad")
  }

  @Test("The untouched samples are good, each for its format")
  func samples() throws {
    for (format, samples) in MutationSamples.all {
      for sample in samples {
        let manifest = try readText(sample, format: format).get()
        #expect(Self.fault(of: manifest) == nil)
      }
    }
  }

  private static let base = try? WebURL("https://cdn.example/lists/LIST")

  /// What is against the rules in what was read, in words.
  static func fault(of manifest: Manifest) -> String? {
    for entry in manifest.entries {
      for url in [entry.url] + entry.alternates {
        // Nothing is repaired in a URL that is one already.
        guard let again = try? WebURL(url.string), again.string == url.string else {
          return "`\(url.string)` is no URL"
        }
        if url.string.utf8.count > 3 * WebURL.maximumLength { return "a URL is too long" }
        if url.string.contains("@") && url.authority.contains("@") { return "user-info" }
      }
      if let path = entry.path, let words = fault(ofPath: path) { return words }
      for digest in entry.digests where digest.bytes.count != digest.algorithm.byteCount {
        return "a digest of \(digest.bytes.count) bytes"
      }
      if let size = entry.size, size < 0 { return "a negative size" }
      if entry.id?.isEmpty != false { return "no id" }
      if let priority = entry.priority, !(1...100).contains(priority) { return "a priority" }
    }
    for rejected in manifest.rejected where rejected.failure.message.isEmpty {
      return "a refusal without words"
    }
    return nil
  }

  private static func fault(ofPath path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let isSafe =
      parts.allSatisfy { !["", ".", ".."].contains($0) } && !path.contains("\\")
      && path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    return isSafe ? nil : "the path `\(path)`"
  }
}

/// Damages samples in all the ways that come to mind.
struct Mutator {
  private var state: UInt64
  private let samples: [[UInt8]]

  init(seed: UInt64, samples: [String]) {
    state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    self.samples = samples.map { Array($0.utf8) }
  }

  mutating func next() -> [UInt8] {
    var bytes = pick()
    for _ in 0...random(3) where !bytes.isEmpty { mutate(&bytes) }
    return bytes
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = random(bytes.count)
    switch random(11) {
    case 0: bytes[place] ^= 1 << UInt8(random(8))
    case 1: bytes.removeSubrange(place...)
    case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random(20)))
    case 3:
      let other = pick()
      bytes = Array(bytes[..<place]) + other[random(other.count)...]
    case 4:
      let piece = bytes[place..<min(bytes.count, place + 1 + random(60))]
      let copies = repeatElement(piece, count: 1 + random(8)).joined()
      bytes.insert(contentsOf: copies, at: random(bytes.count))
    case 5: bytes.insert(UInt8(random(32)), at: place)
    case 6: bytes.insert(contentsOf: Self.tokens[random(Self.tokens.count)].utf8, at: place)
    case 7: bytes[place] = UInt8(random(256))
    case 8: replaceNumber(from: place, in: &bytes)
    case 9:
      let opening = [Array("[".utf8), Array("{\"a\":".utf8), Array("<a>".utf8)][random(3)]
      let deep = repeatElement(opening, count: 1 + random(40)).joined()
      bytes.insert(contentsOf: deep, at: place)
    default: bytes.insert(0xC0 | UInt8(random(64)), at: place)
    }
  }

  /// The next digits become another number, perhaps one that is too large.
  private mutating func replaceNumber(from place: Int, in bytes: inout [UInt8]) {
    guard let start = bytes[place...].firstIndex(where: ASCII.isDigit) else { return }
    let end = bytes[start...].firstIndex { !ASCII.isDigit($0) } ?? bytes.count
    let number = Self.numbers[random(Self.numbers.count)]
    bytes.replaceSubrange(start..<end, with: number.utf8)
  }

  private mutating func pick() -> [UInt8] {
    samples[random(samples.count)]
  }

  private mutating func random(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int((state >> 11) % UInt64(max(1, bound)))
  }

  private static let numbers = [
    "0", "-1", "01", "9223372036854775807", "9223372036854775808", "1e999", "1.5",
    String(repeating: "9", count: 400),
  ]

  private static let tokens = [
    "\n", "\r", "\t", "\r\n", " ", "\u{FEFF}", "../", "/", "//", "\\", "\"", "'", "<", ">", "&",
    "]]>",
    "<!--", "&#0;", "&lt;", "&x;", "<!DOCTYPE a [<!ENTITY b \"c\">]>", "\0", "%2e%2e/", "@", "u:p@",
    "http://", "https://", "#sha256=", "#", "?", ":", "null", "{}", "[]", ",", "xn--", "ä",
    "\u{202E}",
    String(repeating: "a", count: 9_000), "[::1]", "127.0.0.1:99999", "  out=", "SHA256 (", ") = ",
  ]
}
