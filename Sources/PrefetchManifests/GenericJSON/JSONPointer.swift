internal import PrefetchCore
internal import PrefetchDocuments

/// An RFC 6901 pointer into a JSON document; a trailing `/*` stands for every child.
struct JSONPointer {
  let text: String
  private let tokens: [String]
  let isForEach: Bool

  init(_ text: String) {
    self.text = text
    let isForEach = text.hasSuffix("/*")
    self.isForEach = isForEach
    tokens = (isForEach ? text.dropLast(2) : text[...])
      .split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      .map(Self.unescaped)
  }

  /// Decodes `~1` (slash) and `~0` (tilde) in one pass, so that `~01` becomes `~1`.
  private static func unescaped(_ token: Substring) -> String {
    var text = ""
    var isEscape = false
    for character in token {
      switch (isEscape, character) {
      case (true, "1"): text.append("/")
      case (true, "0"): text.append("~")
      case (true, _): text += "~\(character)"
      case (false, "~"): break
      case (false, _): text.append(character)
      }
      isEscape = !isEscape && character == "~"
    }
    return isEscape ? text + "~" : text
  }

  func find(in root: Node) -> Result<Node, Missing> {
    var node = root
    for (depth, token) in tokens.enumerated() {
      let next: Node? =
        switch node.content {
        case .mapping: node[token]
        case .sequence(let nodes):
          Self.index(token).flatMap { nodes.indices.contains($0) ? nodes[$0] : nil }
        case .scalar: nil
        }
      guard let next else {
        return .failure(Missing(pointer: text, token: token, depth: depth, found: node))
      }
      node = next
    }
    return .success(node)
  }

  private static func index(_ token: String) -> Int? {
    guard !token.isEmpty, token.utf8.allSatisfy(ASCII.isDigit), token == "0" || token.first != "0"
    else { return nil }
    return Int(token)
  }

  func all(in root: Node) -> [Node] {
    guard case .success(let node) = find(in: root) else { return [] }
    return isForEach ? Self.children(of: node) ?? [] : [node]
  }

  static func children(of node: Node) -> [Node]? {
    switch node.content {
    case .sequence(let nodes): nodes
    case .mapping(let entries): entries.map(\.value)
    case .scalar: nil
    }
  }

  struct Missing: Error {
    var pointer: String
    var token: String
    var depth: Int
    var found: Node

    var message: String {
      let subject = depth == 0 ? "the document" : "what the first \(depth) of its steps lead to"
      return switch found.content {
      case .mapping(let entries):
        "\(subject) has no `\(token)`; its keys are \(Self.listed(entries.map(\.key)))"
      case .sequence(let nodes):
        "\(subject) is a list of \(nodes.count), which has no `\(token)`"
      case .scalar: "\(subject) is \(found.kindName), which has no `\(token)`"
      }
    }

    private static func listed(_ keys: [String]) -> String {
      guard !keys.isEmpty else { return "none" }
      let shown = keys.prefix(5).map { "`\($0.prefix(40))`" }.joined(separator: ", ")
      return keys.count > 5 ? "\(shown) and \(keys.count - 5) more" : shown
    }
  }
}
