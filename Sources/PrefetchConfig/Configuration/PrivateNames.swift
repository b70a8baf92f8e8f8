import PrefetchCore
import PrefetchDocuments

/// Names are reported and sent, so they should not tell who somebody is.
enum PrivateNames {
  static func check(_ name: String, at node: Node, _ decoder: inout NodeDecoder) {
    guard let finding = PrivateName.found(in: name) else { return }
    decoder.report(
      "config.private-name",
      "the name `\(name)` looks like \(finding.words)",
      severity: .warning,
      hint: "names are reported and sent; use one that says what it is for",
      at: node
    )
  }
}
