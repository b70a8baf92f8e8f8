/// Repository of a hub, as the addresses of the hub's API name it.
package struct HubRepository: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    case models
    case datasets
    case spaces
  }

  package static let standardEndpoint = try? WebURL("https://huggingface.co")
  package static let standardRevision = "main"

  package let kind: Kind
  /// Names of the organisation, which old repositories lack, and of the repository.
  package let names: [String]
  /// Branch, tag or commit in the address.
  package let revision: String
  /// URL of the hub, before `/api/…`.
  private let endpoint: String

  /// Parses an address of a revision or of its tree; nil for any other address.
  package init?(api url: WebURL) {
    let parts = url.path.split(separator: "/", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() where part == "api" {
      let rest = parts[(index + 1)...]
      guard let kind = rest.first.flatMap({ Kind(rawValue: String($0)) }),
        let verb = rest.firstIndex(where: { ["revision", "tree"].contains($0) }),
        2...3 ~= verb - rest.startIndex, verb + 1 < rest.endIndex
      else { continue }
      self.kind = kind
      names = rest[rest.startIndex.advanced(by: 1)..<verb].map { URLText.decoded($0) }
      revision = URLText.decoded(rest[verb + 1])
      let prefix = parts[..<index].joined(separator: "/")
      endpoint = "\(url.scheme.rawValue)://\(url.authority)\(prefix)"
      return
    }
    return nil
  }

  static func revisionPath(of names: [String], _ kind: Kind, _ revision: String) -> String {
    "\(api(names, kind))/revision/\(Hexadecimal.encodePercent(revision))"
  }

  private static func api(_ names: [String], _ kind: Kind) -> String {
    "/api/\(kind.rawValue)/" + names.map { Hexadecimal.encodePercent($0) }.joined(separator: "/")
  }

  /// Returns the address of the list of a commit's files.
  package func tree(of commit: String) -> WebURL? {
    let query = "recursive=true&expand=false"
    return try? WebURL("\(endpoint)\(Self.api(names, kind))/tree/\(commit)?\(query)")
  }

  /// Returns the address of a file in a commit.
  package func file(_ path: String, in commit: String) -> WebURL? {
    let folders =
      switch kind {
      case .models: names
      case .datasets, .spaces: [kind.rawValue] + names
      }
    let parts = folders + ["resolve", commit] + path.split(separator: "/").map(String.init)
    let encoded = parts.map { Hexadecimal.encodePercent($0) }.joined(separator: "/")
    return try? WebURL("\(endpoint)/\(encoded)")
  }

  /// Whether a text is the name of a commit, which always has the same files.
  package static func isCommit(_ text: String) -> Bool {
    [40, 64].contains(text.utf8.count)
      && text.utf8.allSatisfy { Hexadecimal.value(of: $0) != nil }
  }
}
