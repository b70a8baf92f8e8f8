import PrefetchCore
import PrefetchDocuments

/// A profile: values that `--profile NAME` puts over the others.
package struct Profile: Hashable, Sendable {
  static let table = ObjectType(Self()) {
    Field("vars", \.variables, .map(of: .name, to: .unread)).help("Values for `${var:NAME}`")
    Field("set", \.settings, .map(of: .keyPath, to: .unread))
      .help("Values by their key paths, as `--set` takes them; of segments that exist")
  }

  /// Placeholder of a value that is decoded only in the selected profile.
  struct Unread: Hashable, Sendable {}

  var variables: [String: Unread] = [:]
  var settings: [String: Unread] = [:]
}

extension ValueType where Value == Profile.Unread {
  static var unread: Self {
    Self(shape: .anything, decode: { _, _ in Profile.Unread() }, encode: { _ in .null })
  }
}

extension KeyRule {
  fileprivate static let keyPath = KeyRule(summary: "key path", names: .pattern("")) { $0 }
}

struct ProfileReading {
  let tree: Node

  private var profiles: [Node.Entry] { tree["profiles"]?.mapping ?? [] }

  /// Returns the tree with a profile's variables, and the profile's values in rising precedence.
  func changes(by name: String) throws(Diagnostic) -> (tree: Node, overrides: [Override]) {
    guard let profile = profiles.first(where: { $0.key == name }) else {
      let names = profiles.map(\.key)
      throw Diagnostic(
        "usage.unknown-profile",
        "there is no profile `\(name)`",
        hint: Choices.suggestion(for: name, among: names)
          ?? (names.isEmpty
            ? "`profiles: {\(name): {set: {…}}}` would be one"
            : "there are \(names.map { "`\($0)`" }.joined(separator: ", "))"),
        file: "--profile"
      )
    }
    var overrides: [Override] = []
    for entry in profile.value["set"]?.mapping ?? [] {
      gather(entry.value, at: entry.key, of: name, into: &overrides)
    }
    return (withVariables(profile.value["vars"]?.mapping ?? []), overrides)
  }

  func diagnostics() -> [Diagnostic] {
    profiles.flatMap { profile -> [Diagnostic] in
      guard let changes = try? changes(by: profile.key) else { return [] }
      return OverrideApplication(changes.overrides, to: tree).diagnostics
    }
  }

  /// A mapping overrides only the keys that it contains.
  private func gather(
    _ node: Node,
    at path: String,
    of profile: String,
    into overrides: inout [Override]
  ) {
    if let entries = node.mapping {
      for entry in entries {
        let key = entry.key.contains(".") ? "[\"\(entry.key)\"]" : ".\(entry.key)"
        gather(entry.value, at: path + key, of: profile, into: &overrides)
      }
      return
    }
    var override = Override(path: path, text: "", source: node.source)
    override.value = node
    override.profile = profile
    overrides.append(override)
  }

  private func withVariables(_ variables: [Node.Entry]) -> Node {
    guard !variables.isEmpty else { return tree }
    var tree = tree
    var entries = tree.mapping ?? []
    let index = entries.firstIndex { $0.key == "vars" }
    let known = index.flatMap { entries[$0].value.mapping } ?? []
    let kept = known.filter { entry in !variables.contains { $0.key == entry.key } }
    let merged = Node(.mapping(kept + variables), at: nil, in: tree.source)
    let entry = Node.Entry(key: "vars", keyLocation: nil, value: merged)
    if let index { entries[index] = entry } else { entries.append(entry) }
    tree.content = .mapping(entries)
    return tree
  }
}
