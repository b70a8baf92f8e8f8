/// A marker such as `sys_platform == "linux"` (PEP 508).
///
/// A marker that cannot be evaluated counts as true: a missing file harms most.
struct Marker {
  private enum Token: Hashable {
    case name(String)
    case text(String)
    case comparison(String)
    case open
    case close
  }

  private struct Surroundings {
    var platform: PlatformName?
    var python: Int?
  }

  private static let maximumDepth = 32

  private var tokens: ArraySlice<Token>
  private let surroundings: Surroundings

  /// Returns false only when the marker holds on no wanted platform and Python version.
  static func mayHold(_ text: String, on platforms: PlatformFilter) -> Bool {
    guard let tokens = tokens(of: text) else { return true }
    let targets: [PlatformName?] = platforms.targets.map { $0.map(\.self) } ?? [nil]
    let pythons: [Int?] = platforms.pythons.isEmpty ? [nil] : platforms.pythons.map(\.self)
    guard !targets.isEmpty else { return true }
    return targets.contains { target in
      pythons.contains { python in
        var marker = Marker(
          tokens: tokens[...],
          surroundings: Surroundings(platform: target, python: python)
        )
        guard let holds = marker.alternatives(depth: 0), marker.tokens.isEmpty else { return true }
        return holds
      }
    }
  }

  // MARK: Reading

  private static func tokens(of text: String) -> [Token]? {
    var tokens: [Token] = []
    var rest = text[...]
    while let first = rest.first {
      if first.isWhitespace {
        rest = rest.dropFirst()
      } else if first == "(" || first == ")" {
        tokens.append(first == "(" ? .open : .close)
        rest = rest.dropFirst()
      } else if first == "\"" || first == "'" {
        let inner = rest.dropFirst().prefix { $0 != first }
        guard inner.endIndex < rest.endIndex else { return nil }
        tokens.append(.text(String(inner)))
        rest = rest[inner.endIndex...].dropFirst()
      } else if let comparison = PythonVersions.operators.first(where: { rest.hasPrefix($0) }) {
        tokens.append(.comparison(comparison))
        rest = rest.dropFirst(comparison.count)
      } else {
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        guard !name.isEmpty else { return nil }
        tokens.append(.name(String(name)))
        rest = rest[name.endIndex...]
      }
    }
    return tokens
  }

  // MARK: Deciding, nil being open

  private mutating func alternatives(depth: Int) -> Bool? {
    var result = conjunction(depth: depth)
    while tokens.first == .name("or") {
      tokens = tokens.dropFirst()
      let next = conjunction(depth: depth)
      result = result == true || next == true ? true : result == false ? next : nil
    }
    return result
  }

  private mutating func conjunction(depth: Int) -> Bool? {
    var result = condition(depth: depth)
    while tokens.first == .name("and") {
      tokens = tokens.dropFirst()
      let next = condition(depth: depth)
      result = result == false || next == false ? false : result == true ? next : nil
    }
    return result
  }

  private mutating func condition(depth: Int) -> Bool? {
    guard depth < Self.maximumDepth else { return nil }
    if tokens.first == .open {
      tokens = tokens.dropFirst()
      let inner = alternatives(depth: depth + 1)
      guard tokens.popFirst() == .close else { return nil }
      return inner
    }
    guard let left = tokens.popFirst(), let comparison = comparison(),
      let right = tokens.popFirst()
    else { return nil }
    switch (left, right) {
    case (.name(let name), .text(let text)): return decide(name, comparison, text)
    case (.text(let text), .name(let name)):
      return Self.mirrored[comparison].flatMap { decide(name, $0, text) }
    default: return nil
    }
  }

  private mutating func comparison() -> String? {
    switch tokens.popFirst() {
    case .comparison(let comparison): return comparison
    case .name("in"): return "in"
    case .name("not"): return tokens.popFirst() == .name("in") ? "not in" : nil
    default: return nil
    }
  }

  private static let mirrored = [
    "==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
  ]

  private func decide(_ name: String, _ comparison: String, _ text: String) -> Bool? {
    if name == "python_version" || name == "python_full_version" {
      return surroundings.python.flatMap { PythonVersions.compare($0, comparison, text) }
    }
    guard let value = value(of: name) else { return nil }
    switch comparison {
    case "==", "===": return value == text
    case "!=": return value != text
    case "in": return text.contains(value)
    case "not in": return !text.contains(value)
    default: return nil
    }
  }

  private func value(of name: String) -> String? {
    switch name {
    case "sys_platform": surroundings.platform?.pythonSystem
    case "platform_system":
      switch surroundings.platform?.system {
      case "linux": "Linux"
      case "darwin": "Darwin"
      case "win32": "Windows"
      default: nil
      }
    case "os_name": surroundings.platform.map { $0.system == "win32" ? "nt" : "posix" }
    case "platform_machine": surroundings.platform?.pythonMachine
    // Wheels are chosen for CPython only.
    case "implementation_name": "cpython"
    case "platform_python_implementation": "CPython"
    default: nil
    }
  }
}
