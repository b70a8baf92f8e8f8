internal import PrefetchCore
internal import PrefetchDocuments

/// What a reader takes of a Python lock file that is for several machines and purposes at once.
struct LockChoice {
  private var groups: [String] = []
  private var extras: [String] = []
  /// Packages or requirements whose conditions hold for none of the wanted platforms.
  var unmet = 0

  mutating func add(groups names: [String]) {
    for name in names where !groups.contains(name) { groups.append(name) }
  }

  mutating func add(extras names: [String]) {
    for name in names where !extras.contains(name) { extras.append(name) }
  }

  /// Nil where the list leaves no choice.
  var note: String? {
    var words: [String] = []
    if !groups.isEmpty { words.append("all groups are taken (\(Self.listed(groups)))") }
    if !extras.isEmpty { words.append("all extras are taken (\(Self.listed(extras)))") }
    if unmet > 0 {
      let verb = unmet == 1 ? "package is" : "packages are"
      words.append("\(unmet) \(verb) left out by markers that no wanted platform meets")
    }
    return words.isEmpty ? nil : words.joined(separator: "; ")
  }

  private static func listed(_ names: [String]) -> String {
    let shown = names.prefix(8).map { "`\($0.prefix(40))`" }.joined(separator: ", ")
    return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
  }
}

extension Node {
  /// Keys of a table that is a member.
  func keys(of member: String) -> [String] {
    self.member(member)?.mapping?.map(\.key) ?? []
  }
}
