import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchManifests

/// Every reader against documents that the mutator has been at.
@Suite struct MutationTests {
  static let rounds = Campaign.documents(usually: 1_500)

  @Test(
    "No document crashes a reader, and every resulting entry obeys the rules",
    arguments: MutationSamples.all
  )
  func mutations(row: MutationSamples.Row) throws {
    let samples = row.samples.map { Array($0.utf8) }
    var mutator = Mutator(seed: 0x5EED + UInt64(samples[0].count), samples: samples)
    var (good, bad, broken) = (0, 0, 0)
    defer {
      if Campaign.isLong {
        print("\(row.testDescription): \(good) accepted, \(bad) refused, \(broken) broke a rule")
      }
    }
    for round in 0..<Self.rounds {
      let bytes = mutator.next()
      var source = ManifestSource(
        bytes: .file("manifest"),
        base: round % 3 == 0 ? nil : try? WebURL(row.address),
        mime: nil,
        name: "manifest"
      )
      source.documentRole = row.documentRole
      if round % 2 == 0 { source.rules.format = row.format }
      source.rules.crateIndex = Self.base
      let fault: String?
      switch readBytes(bytes, source) {
      case .success(let manifest):
        let isEmpty = manifest.entries.isEmpty && manifest.furtherDocuments.isEmpty
        (good, bad) = isEmpty ? (good, bad + 1) : (good + 1, bad)
        fault = Self.fault(of: manifest, from: bytes)
      case .failure(let failure):
        bad += 1
        fault = Self.fault(of: failure, from: bytes)
      }
      guard let fault else { continue }
      broken += 1
      Issue.record("\(fault): \(String(decoding: bytes, as: UTF8.self))")
      guard broken < 5 else { return }
    }
    // Both outcomes must occur, or the mutations have tested nothing.
    #expect(good > Self.rounds / 50, "\(good) good, \(bad) bad")
    #expect(bad > Self.rounds / 50, "\(good) good, \(bad) bad")
  }

  @Test("The untouched samples are valid, each for its format", arguments: MutationSamples.all)
  func samples(row: MutationSamples.Row) throws {
    for sample in row.samples {
      let manifest = try readText(
        sample,
        format: row.format,
        base: row.address,
        documentRole: row.documentRole
      ).get()
      #expect(Self.fault(of: manifest, from: Array(sample.utf8)) == nil)
    }
  }

  private static let base = try? WebURL("https://cdn.example/lists/LIST")

  // MARK: Rules

  /// Returns the first violation of the rules in a manifest.
  private static func fault(of manifest: Manifest, from bytes: [UInt8]) -> String? {
    for entry in manifest.entries {
      if let words = fault(of: entry) { return words }
    }
    return manifest.rejected.lazy.compactMap { fault(of: $0.failure, from: bytes) }.first
  }

  private static func fault(of entry: ManifestEntry) -> String? {
    for url in [entry.url] + entry.alternates {
      // A valid URL must not change when it is parsed again.
      guard let again = try? WebURL(url.string), again.string == url.string else {
        return "`\(url.string)` is no URL"
      }
      if url.string.contains("@") && url.authority.contains("@") { return "user-info" }
    }
    if let path = entry.path, let words = fault(ofPath: path) { return words }
    for digest in entry.digests where digest.bytes.count != digest.algorithm.byteCount {
      return "a digest of \(digest.bytes.count) bytes"
    }
    if let size = entry.size, size < 0 { return "a negative size" }
    if entry.id?.isEmpty != false { return "no id" }
    if let priority = entry.priority, !(1...100).contains(priority) { return "a priority" }
    return nil
  }

  private static func fault(ofPath path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let isSafe =
      parts.allSatisfy { !["", ".", ".."].contains($0) } && !path.contains("\\")
      && path.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    return isSafe ? nil : "the path `\(path)`"
  }

  /// A refusal has words, and a place that the document has.
  private static func fault(of failure: Failure, from bytes: [UInt8]) -> String? {
    let message = failure.message
    guard !message.isEmpty else { return "a refusal without words" }
    guard message.hasPrefix("line "),
      let line = Int(message.dropFirst(5).prefix { $0.isNumber })
    else { return nil }
    let lineCount = 1 + bytes.count { $0 == 0x0A || $0 == 0x0D }
    guard (1...lineCount).contains(line) else { return "a line that is not there: \(message)" }
    guard let mark = message.firstRange(of: "column ")?.upperBound,
      let column = Int(message[mark...].prefix { $0.isNumber })
    else { return nil }
    return (1...bytes.count + 1).contains(column) ? nil : "a column that is not there: \(message)"
  }
}
