internal import PrefetchCore
internal import PrefetchDocuments

/// Parts of a Python lock file that the reader takes although they are optional.
struct LockChoice {
  private var groups: [String] = []
  private var extras: [String] = []
  /// Number of packages or requirements whose markers hold on no wanted platform.
  var unmet = 0

  mutating func add(groups names: [String]) {
    for name in names where !groups.contains(name) { groups.append(name) }
  }

  mutating func add(extras names: [String]) {
    for name in names where !extras.contains(name) { extras.append(name) }
  }

  var message: String? {
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
  func keys(of member: String) -> [String] {
    self.member(member)?.mapping?.map(\.key) ?? []
  }
}
