internal import PrefetchCore

/// Meaning of a request's target.
enum CacheTarget: Hashable {
  /// A URL without its scheme, `HOST[:PORT]/PATH?QUERY`, or with it.
  case address(String)
  /// An item by id and optional provider; `name` is the path of a file below the item.
  case item(provider: String?, id: String, name: String?)
  case health
  case nowhere
  /// A target with more than one interpretation, which is refused.
  case malformed

  /// Parses a target; with a base, all other paths lie below the base.
  init(_ target: String, below base: String? = nil) {
    // A URL ends at `#`, so that `/..#` would leave the base.
    guard target.hasPrefix("/"), target.utf8.count <= WebURL.maximumLength,
      !target.utf8.contains(UInt8(ascii: "#"))
    else {
      self = .malformed
      return
    }
    let path = target.dropFirst().prefix { $0 != "?" }
    let query = target.dropFirst(1 + path.count)
    var parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.allSatisfy(Self.isForward) else {
      self = .malformed
      return
    }
    // apt requests files beside its index this way.
    if parts.count > 1 { parts = parts.filter { $0 != "." } }
    guard let head = parts.first, let first = Self.decode(head) else {
      self = .malformed
      return
    }
    let below = parts.dropFirst()
    switch first {
    case "-" where base == nil || below.first == "health" || below.first == "item":
      self = Self.own(Array(below))
    case _ where base != nil:
      self = .address((base ?? "") + parts.joined(separator: "/") + query)
    case "":
      self = .nowhere
    default:
      self = Self.address(first, below.joined(separator: "/") + query)
    }
  }

  /// Returns whether a path component is allowed: clients must resolve `..` themselves.
  private static func isForward(_ part: Substring) -> Bool {
    guard part.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return false }
    // An escaped `..` has at most six bytes.
    guard part.utf8.count <= 6 else { return true }
    return part.replacing("%2e", with: ".").replacing("%2E", with: ".") != ".."
  }

  private static func address(_ authority: String, _ rest: String) -> Self {
    guard authority.utf8.allSatisfy({ $0 > 0x20 && !Self.delimiters.contains($0) }) else {
      return .malformed
    }
    return .address("\(authority)/\(rest)")
  }

  private static let delimiters = Set("@/\\?#%".utf8)

  private static func own(_ parts: [Substring]) -> Self {
    switch parts.first {
    case "health" where parts.count == 1:
      return .health
    case "item" where (3...maximumDepth).contains(parts.count):
      guard let provider = decode(parts[1]), let id = decode(parts[2]), !id.isEmpty else {
        return .malformed
      }
      let names = parts.dropFirst(3).compactMap { decode($0) }
      guard names.count == parts.count - 3 else { return .malformed }
      let name = names.allSatisfy(\.isEmpty) ? nil : names.joined(separator: "/")
      return .item(provider: provider == "-" ? nil : provider, id: id, name: name)
    default:
      return .nowhere
    }
  }

  /// Most components of an item's path, since its files may lie in folders.
  private static let maximumDepth = 6

  private static func decode(_ part: Substring) -> String? {
    Hexadecimal.decodePercent(strictly: part).flatMap { text in
      text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? text : nil
    }
  }
}
