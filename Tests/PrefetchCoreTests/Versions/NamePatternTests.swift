import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite struct NamePatternTests {
  @Test(
    "A pattern finds the version of a name and its group",
    arguments: [
      ("img-@v-amd64.iso", "img-1.2-amd64.iso", "1.2", "img-@v-amd64.iso"),
      ("img-@v-amd64.iso", "/a/b/img-1.2-amd64.iso", "1.2", "img-@v-amd64.iso"),
      ("img-@v", "img-1", "1", "img-@v"),
      ("@v.zip", "v1.zip", "v1", "@v.zip"),
      ("@v", "1", "1", "@v"),
      ("ä-@v.ö", "ä-1.ö", "1", "ä-@v.ö"),
      // The version ends at the first place after it, since `@*` is greedy.
      ("u-@v-@*.iso", "u-22.04.4-live-server-amd64.iso", "22.04.4", "u-@v-live-server-amd64.iso"),
      ("u-@v-@*-amd64.iso", "u-24.04-a-b-amd64.iso", "24.04", "u-@v-a-b-amd64.iso"),
      // The version begins at the last place before it.
      ("@*_@v.zim", "wiki_en_all_2024-01.zim", "2024-01", "wiki_en_all_@v.zim"),
      ("@*-@v.gz", "a-1.0-2.gz", "2", "a-1.0-@v.gz"),
      // A version begins with a digit, so a word at the end is a part of it.
      ("@*-@v.gz", "a-b-1.0-beta.gz", "1.0-beta", "a-b-@v.gz"),
      ("@*-@v.gz", "-1.gz", "1", "-@v.gz"),
      ("x@*-@v-@*y", "x-1-y", "1", "x-@v-y"),
      ("@*.@*-@v.@*.@*", "a.b.c-1.2.3.d.e", "1", "a.b.c-@v.2.3.d.e"),
      ("@*-v@v-@*.gz", "a-v1-b-v2-c.gz", "2", "a-v1-b-v@v-c.gz"),
      ("x-@v1-@*", "x-31-1-a", "3", "x-@v1-1-a"),
      // A slash makes the pattern one for the whole path; the version has no slash.
      ("dist/@v/x.gz", "/dist/2024-01-02/x.gz", "2024-01-02", "dist/@v/x.gz"),
      ("/dist/@v/x.gz", "dist/2/x.gz", "2", "dist/@v/x.gz"),
      ("@*/@v/@*", "a/b/1/c/2/d", "2", "a/b/1/c/@v/d"),
      ("@*/x-@v.gz", "a/b/x-1.gz", "1", "a/b/x-@v.gz"),
      ("/x-@v", "x-1", "1", "x-@v"),
      ("@@s@@t-@v.tgz", "@s@t-1.tgz", "1", "@@s@@t-@v.tgz"),
      ("@*-@v.tgz", "a@v-1.tgz", "1", "a@@v-@v.tgz"),
    ]
  )
  func match(pattern: String, name: String, version: String, group: String) throws {
    let match = try NamePattern(pattern).match(name)
    #expect(match?.version == version)
    #expect(match?.group == group)
  }

  @Test(
    "A pattern does not match other names",
    arguments: [
      ("img-@v-amd64.iso", "img-1.2-arm64.iso"), ("img-@v-amd64.iso", "img--amd64.iso"),
      ("img-@v-amd64.iso", "img-amd64.iso"), ("img-@v.iso", "img-1.iso.asc"),
      ("img-@v.iso", "ximg-1.iso"), ("img-@v.iso", "img-1/x.iso"), ("@v", ""), ("@v", "a"),
      ("debian-@v.iso", "debian-edu-12.5.0.iso"), ("x-@v.gz", "x-latest.gz"), ("x-@v.gz", "x-v.gz"),
      ("x-@v.gz", "x-.5.gz"), ("a/@v", "a/b/1"), ("a/@v", "b/a/1"), ("/x-@v", "a/x-1"),
      ("a@*b-@v", "ab1"), ("1@*1-@v", "1-2"), ("@v-@*-a", "1-a"), ("@v.a", "1.A"),
      ("@v/x", "1/y/x"),
    ]
  )
  func mismatch(pattern: String, name: String) throws {
    #expect(try NamePattern(pattern).match(name) == nil)
  }

  @Test(
    "A text that is no pattern is refused with the place",
    arguments: [
      ("", NamePatternFault.noVersion), ("img-1.iso", .noVersion), ("a-@*.iso", .noVersion),
      ("img-@@v", .noVersion), ("@v-@v", .secondVersion(column: 4)),
      ("@v@v", .secondVersion(column: 3)), ("ä-@v-ö-@v", .secondVersion(column: 8)),
      ("a@*@v", .adjacentWildcards(column: 4)), ("a-@v@*", .adjacentWildcards(column: 5)),
      ("@*@*-@v", .adjacentWildcards(column: 3)), ("@b/c-@v", .unknownWildcard(column: 1)),
      ("a-@v@", .unknownWildcard(column: 5)), ("a-@v-*.gz", .bareStar(column: 6)),
      ("/ü/@V", .unknownWildcard(column: 4)),
    ]
  )
  func fault(pattern: String, fault: NamePatternFault) {
    #expect(throws: fault) { try NamePattern(pattern) }
    #expect(!fault.message.isEmpty)
  }

  @Test("A pattern finds what a search through all places finds", arguments: 0..<20)
  func exhaustiveSearch(seed: UInt64) throws {
    var random = SeededRandom(seed)
    var matched = 0
    for _ in 0..<500 {
      let before = side(&random)
      let after = side(&random)
      let text = before.joined(separator: "@*") + "@v" + after.joined(separator: "@*")
      // After `v`, a literal that begins with a digit would be its only digit.
      guard !text.hasPrefix("/"), after.first?.hasPrefix("1") == false,
        let pattern = try? NamePattern(text)
      else { continue }
      var name = word("a-1v2/", 0...9, &random)
      if random.happens(60) {
        name = [before, ["1"], after].map { $0.joined(separator: name) }.joined()
      }
      guard !name.hasPrefix("/") else { continue }
      let bytes = Array(name.utf8)
      // A pattern without a slash sees the last part of a name.
      let base = text.contains("/") ? 0 : bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
      let expected = versionRange(in: Array(bytes[base...]), before, after)
        .map {
          String(decoding: bytes[(base + $0.lowerBound)..<(base + $0.upperBound)], as: UTF8.self)
        }
      #expect(pattern.match(name)?.version == expected, "\(text) in \(name)")
      if expected != nil { matched += 1 }
    }
    #expect(matched > 20)
  }

  private func side(_ random: inout SeededRandom) -> [String] {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in word("a-1/", 0...2, &random) }
  }

  private func word(
    _ alphabet: String,
    _ counts: ClosedRange<Int>,
    _ random: inout SeededRandom
  ) -> String {
    let count = Int.random(in: counts, using: &random)
    return String((0..<count).compactMap { _ in alphabet.randomElement(using: &random) })
  }

  /// Tries all places from the last start and the first end.
  private func versionRange(in name: [UInt8], _ before: [String], _ after: [String]) -> Range<Int>?
  {
    for start in name.indices.reversed() where isGlob(before[...], name[..<start]) {
      for end in (start + 1)..<(name.count + 1) where isGlob(after[...], name[end...]) {
        let text = String(decoding: name[start..<end], as: UTF8.self)
        let digits = text.hasPrefix("v") ? text.dropFirst() : text[...]
        if let first = digits.first {
          guard first.isNumber, !text.contains("/") else { break }
          return start..<end
        }
      }
    }
    return nil
  }

  private func isGlob(_ literals: ArraySlice<String>, _ text: ArraySlice<UInt8>) -> Bool {
    guard let first = literals.first, text.starts(with: first.utf8) else { return false }
    let rest = text.dropFirst(first.utf8.count)
    if literals.count == 1 { return rest.isEmpty }
    return (rest.startIndex...rest.endIndex).contains { isGlob(literals.dropFirst(), rest[$0...]) }
  }
}
