internal import PrefetchCore

/// Reads pip's requirements files; only lines that fix the exact files are accepted.
enum Requirements {
  static func read(_ bytes: RawSpan, source: ManifestSource) throws(Failure) -> Manifest {
    var reader = RequirementsReader(
      rules: source.rules,
      platforms: try PlatformFilter(source.rules)
    )
    for line in LogicalLines(try LockLines(bytes)) { try reader.read(line) }
    return try reader.finished()
  }
}

/// Lines without comments and joined at trailing backslashes; each keeps the number of its first.
private struct LogicalLines: Sequence, IteratorProtocol {
  private var lines: LockLines

  init(_ lines: LockLines) {
    self.lines = lines
  }

  mutating func next() -> LockLines.LockLine? {
    while var line = joined() {
      line.text = Self.withoutComment(line.text)
      if !line.text.allSatisfy(\.isWhitespace) { return line }
    }
    return nil
  }

  private mutating func joined() -> LockLines.LockLine? {
    var open: LockLines.LockLine?
    while let line = lines.next() {
      let isComment = line.text.drop(while: \.isWhitespace).first == "#"
      let isContinued = !isComment && line.text.hasSuffix("\\")
      let text = isContinued ? line.text.dropLast() : line.text[...]
      if open == nil { open = LockLines.LockLine(number: line.number, text: "") }
      open?.text += isComment ? " \(text)" : String(text)
      if !isContinued { break }
    }
    return open
  }

  /// Removes a comment, whose `#` follows a blank; a `#` within a word belongs to a URL.
  private static func withoutComment(_ text: String) -> String {
    var isAfterBlank = true
    for index in text.indices {
      if isAfterBlank, text[index] == "#" { return String(text[..<index]) }
      isAfterBlank = text[index].isWhitespace
    }
    return text
  }
}

private struct RequirementsReader {
  private let platforms: PlatformFilter
  private let configuredIndex: WebURL?
  private var index: WebURL?
  private var hasNoIndex = false
  private var hasFindLinks = false
  private var draft = ManifestDraft()
  private var choice = LockChoice()
  private var requirements: [(line: LockLines.LockLine, requirement: Requirement)] = []

  init(rules: ManifestRules, platforms: PlatformFilter) {
    self.platforms = platforms
    configuredIndex = rules.pipIndex
  }

  mutating func read(_ line: LockLines.LockLine) throws(Failure) {
    let text = Requirement.trimmed(line.text[...])
    if text.hasPrefix("-") { return try readOption(text, line) }
    switch Requirement.read(text) {
    case .success(let requirement): requirements.append((line, requirement))
    case .failure(let complaint):
      draft.reject(complaint.subject, id: complaint.subject, line.invalid(complaint.message))
    }
  }

  // MARK: Options

  /// Address of another place, without its credentials.
  private static func shown(_ value: Substring) -> String {
    (try? WebURL(String(value)))?.redacted ?? String(value)
  }

  private mutating func readOption(_ text: Substring, _ line: LockLines.LockLine) throws(Failure) {
    let name = text.prefix { !$0.isWhitespace && $0 != "=" }
    let value = Requirement.trimmed(
      text[name.endIndex...].drop { $0.isWhitespace }.drop { $0 == "=" }
    )
    switch name {
    case "-r", "--requirement":
      throw line.invalid(
        "`\(text.prefix(80))` names another file; put all requirements into one, "
          + "or make a segment of each file"
      )
    case "-i", "--index-url": try setIndex(String(value), line)
    case "--no-index": hasNoIndex = configuredIndex == nil
    case "-f", "--find-links":
      hasFindLinks = true
      draft.leaveOut(
        Self.shown(value),
        LeftOut(
          CountedNoun("place"),
          "of `--find-links`",
          cure: "list the URLs of its files in a segment with `urls`"
        )
      )
    case "--extra-index-url":
      draft.leaveOut(
        Self.shown(value),
        LeftOut(
          CountedNoun("index", "indexes"),
          "of `--extra-index-url`",
          cure: "give its packages a segment of their own with `pip: { index: URL }`"
        )
      )
    case "-e", "--editable":
      draft.leaveOut(Self.shown(value), .unpublished("from local folders"))
    case "--require-hashes", "--prefer-binary", "--pre", "--trusted-host", "--no-binary",
      "--only-binary", "--use-feature":
      // Options that do not change which files an exact requirement with digests selects.
      break
    case _ where ["-r", "-i", "-f"].contains { name.hasPrefix($0) && !name.hasPrefix("--") }:
      // Values may follow short options directly.
      try readOption("\(text.prefix(2)) \(text.dropFirst(2))", line)
    default:
      draft.warn("`\(name.prefix(80))` is ignored", at: line.location)
    }
  }

  private mutating func setIndex(_ text: String, _ line: LockLines.LockLine) throws(Failure) {
    guard configuredIndex == nil else { return }
    guard !text.contains("${") else {
      throw line.invalid("`${…}` in it is not replaced; set `pip.index`")
    }
    do {
      index = try WebURL(text)
    } catch {
      throw line.invalid("the address of the index \(error)")
    }
  }

  // MARK: Requirements

  consuming func finished() throws(Failure) -> Manifest {
    let index = try WebURL.known(configuredIndex ?? self.index, orElse: "https://pypi.org/simple")
    for (line, requirement) in requirements { add(requirement, line, index) }
    draft.report(choice)
    return try draft.finished()
  }

  private mutating func add(
    _ requirement: Requirement,
    _ line: LockLines.LockLine,
    _ index: WebURL
  ) {
    if let marker = requirement.marker, !Marker.mayHold(marker, on: platforms) {
      choice.unmet += 1
      return
    }
    do throws(Failure) {
      switch requirement.source {
      case .elsewhere:
        draft.leaveOut(
          requirement.subject,
          .unpublished("from version control or local files")
        )
      case .file(let url):
        guard let name = FileName.last(of: url) else {
          throw line.invalid("its URL ends in no file name")
        }
        let file = PythonFile(name: name, url: url, digests: requirement.digests)
        draft.add(try file.entry(), named: name)
      case .index(let project, let version):
        guard !hasNoIndex else {
          let links = hasFindLinks ? ", and `--find-links` is not read" : ""
          throw line.invalid(
            "the list has `--no-index`\(links); give it as `\(project) @ URL`, "
              + "or name an index with `pip: { index: URL }`"
          )
        }
        let indexRequirement = PackageRequirement(
          project: project,
          version: version,
          digests: requirement.digests
        )
        let folder = index.path.hasSuffix("/") ? index.path : index.path + "/"
        do {
          let url = try index.resolving("\(folder)\(project)/")
          draft.add(
            FurtherDocument(url: url, kind: .packageIndex(indexRequirement), accept: Self.accepted)
          )
        } catch {
          throw Failure(.badURL, "its page in the index \(error)")
        }
      }
    } catch {
      draft.reject(requirement.subject, id: requirement.subject, error)
    }
  }

  private static let accepted =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    + "text/html;q=0.01"
}

extension LockLines.LockLine {
  var location: SourceLocation {
    SourceLocation(file: "manifest", line: number, column: 1)
  }
}
