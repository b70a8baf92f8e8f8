internal import PrefetchCore

struct Requirement {
  enum Source {
    case file(WebURL)
    case index(project: String, version: String)
    case elsewhere
  }

  struct Complaint: Error {
    var subject: String
    var message: String
  }

  var subject: String
  var source: Source
  var marker: String?
  var digests: [ExpectedDigest]

  static func read(_ text: Substring) -> Result<Self, Complaint> {
    let (body, options) = split(text)
    let subject = String(body.prefix { !$0.isWhitespace && $0 != ";" })
    let complaint: (String) -> Result<Self, Complaint> = {
      .failure(Complaint(subject: subject, message: $0))
    }
    guard !text.contains("${") else {
      return complaint("`${…}` in it is not replaced; write what is meant")
    }
    guard var digests = digests(options) else {
      return complaint("a `--hash` is not `sha256:` and 64 hexadecimal digits, or the like")
    }
    if let reference = reference(in: body) {
      guard !reference.isElsewhere else {
        return .success(Self(subject: subject, source: .elsewhere, digests: []))
      }
      guard let url = try? WebURL(reference.url) else {
        return complaint("its URL cannot be fetched")
      }
      guard let own = fragmentDigests(reference.url) else {
        return complaint("the digest after `#` in its URL is malformed")
      }
      let known = Set(digests)
      digests += own.filter { !known.contains($0) }
      return .success(
        Self(subject: subject, source: .file(url), marker: reference.marker, digests: digests)
      )
    }
    return pinned(body, digests, complaint)
  }

  private static func pinned(
    _ body: Substring,
    _ digests: [ExpectedDigest],
    _ complaint: (String) -> Result<Self, Complaint>
  ) -> Result<Self, Complaint> {
    let mark = body.firstIndex(of: ";") ?? body.endIndex
    let marker = mark < body.endIndex ? String(body[mark...].dropFirst()) : nil
    let requirement = body[..<mark]
    let name = requirement.prefix {
      !$0.isWhitespace && !"[(=<>!~,".contains($0)
    }
    guard ProjectName.isValid(name) else {
      return complaint("`\(name)` is not a name of a project")
    }
    var rest = trimmed(requirement[name.endIndex...])
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else {
        return complaint("the list of extras is not closed")
      }
      rest = trimmed(rest[end...].dropFirst())
    }
    if rest.first == "(", rest.last == ")" { rest = trimmed(rest.dropFirst().dropLast()) }
    let comparison = rest.hasPrefix("===") ? 3 : rest.hasPrefix("==") ? 2 : 0
    let version = trimmed(rest.dropFirst(comparison))
    guard comparison > 0, !version.isEmpty, !version.hasSuffix("*"),
      version.allSatisfy({ $0.isLetter || $0.isNumber || ".!+-_".contains($0) })
    else {
      return complaint("it is not pinned; write `\(name)==` and one version")
    }
    let project = ProjectName.normalised(name)
    guard !digests.isEmpty else {
      return .failure(
        Complaint(
          subject: "\(project)==\(version)",
          message: "it has no `--hash` to identify its files in the index; "
            + "`pip-compile --generate-hashes` writes them"
        )
      )
    }
    return .success(
      Self(
        subject: "\(project)==\(version)",
        source: .index(project: project, version: String(version)),
        marker: marker,
        digests: digests
      )
    )
  }

  // MARK: Parts

  private static func split(_ text: Substring) -> (body: Substring, options: Substring) {
    var isAfterBlank = false
    for index in text.indices {
      if isAfterBlank, text[index...].hasPrefix("--") {
        return (trimmed(text[..<index]), text[index...])
      }
      isAfterBlank = text[index].isWhitespace
    }
    return (trimmed(text), "")
  }

  private static func digests(_ options: Substring) -> [ExpectedDigest]? {
    var digests: [ExpectedDigest] = []
    var words = options.split(whereSeparator: \.isWhitespace)[...]
    while let word = words.popFirst() {
      guard word.hasPrefix("--hash") else { continue }
      let value = word.hasPrefix("--hash=") ? word.dropFirst(7) : words.popFirst() ?? ""
      let parts = value.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let algorithm = DigestAlgorithm(rawValue: parts[0].lowercased()),
        algorithm.isOfBytes, let bytes = Hexadecimal.decode(parts[1]),
        bytes.count == algorithm.byteCount
      else { return nil }
      digests.append(ExpectedDigest(algorithm: algorithm, bytes: bytes))
    }
    return digests
  }

  /// Parses `name @ URL`, or a URL or path alone.
  private static func reference(
    in body: Substring
  ) -> (url: String, marker: String?, isElsewhere: Bool)? {
    var target = body
    if let at = body.firstIndex(of: "@"), !body[..<at].contains(":"),
      !body[..<at].contains("="), !body[..<at].contains(";")
    {
      target = trimmed(body[at...].dropFirst())
    }
    // A URL may contain `;`, so a blank must stand before the marker's.
    let url = target.prefix { !$0.isWhitespace }
    let rest = trimmed(target[url.endIndex...])
    let marker = rest.hasPrefix(";") ? String(rest.dropFirst()) : nil
    let lower = url.lowercased()
    if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
      return (String(url), marker, false)
    }
    let isElsewhere =
      lower.contains("://") || lower.hasPrefix("file:") || lower.hasPrefix(".")
      || lower.hasPrefix("/") || [".whl", ".tar.gz", ".zip"].contains { lower.hasSuffix($0) }
    return isElsewhere ? (String(url), marker, true) : nil
  }

  /// Returns the digests of `#sha256=…` or `#egg=name&sha256=…`; nil when one is malformed.
  static func fragmentDigests(_ url: some StringProtocol) -> [ExpectedDigest]? {
    guard let mark = url.firstIndex(of: "#") else { return [] }
    var digests: [ExpectedDigest] = []
    for part in url[url.index(after: mark)...].split(separator: "&") {
      let words = part.split(separator: "=", maxSplits: 1)
      guard words.count == 2, let algorithm = DigestAlgorithm(rawValue: words[0].lowercased()),
        algorithm.isOfBytes
      else { continue }
      guard let bytes = Hexadecimal.decode(words[1]), bytes.count == algorithm.byteCount else {
        return nil
      }
      digests.append(ExpectedDigest(algorithm: algorithm, bytes: bytes))
    }
    return digests
  }

  static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
