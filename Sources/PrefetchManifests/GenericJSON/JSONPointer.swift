internal import PrefetchCore
internal import PrefetchDocuments

/// A place in a JSON document as RFC 6901 writes it; `/*` at its end stands for everything in there.
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

  /// `~1` is a slash and `~0` a tilde, in this order, so that `~01` is `~1`.
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

  /// What stands there, or how far the way leads and what is found at its end.
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

  /// All that a pointer leads to, in the document's order; empty for nothing.
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

  /// A pointer that leads nowhere.
  struct Missing: Error {
    var pointer: String
    var token: String
    var depth: Int
    var found: Node

    /// `depth` steps were found before.
    var message: String {
      let place = depth == 0 ? "the document" : "what the first \(depth) of its steps lead to"
      return switch found.content {
      case .mapping(let entries):
        "\(place) has no `\(token)`; its keys are \(Self.listed(entries.map(\.key)))"
      case .sequence(let nodes):
        "\(place) is a list of \(nodes.count), which has no `\(token)`"
      case .scalar: "\(place) is \(found.kindName), which has no `\(token)`"
      }
    }

    private static func listed(_ keys: [String]) -> String {
      guard !keys.isEmpty else { return "none" }
      let shown = keys.prefix(5).map { "`\($0.prefix(40))`" }.joined(separator: ", ")
      return keys.count > 5 ? "\(shown) and \(keys.count - 5) more" : shown
    }
  }
}
