/// Measures of each type in the sources: stored properties, mutation and files.
///
/// The type of a member is found by words: the innermost type whose braces are open.
struct TypeMeasures {
  struct Measure {
    /// Stored properties of instances, which a copy has as well.
    var stored: [String] = []
    var isClass = false
    var hasMutation = false
    var files: Set<String> = []
    /// Files that extend the type.
    var extensions: Set<String> = []

    /// Whether the type changes or shares its state.
    var hasBehaviour: Bool { isClass || hasMutation }
  }

  private(set) var types: [String: Measure] = [:]

  private static let kinds: Set<String> = ["struct", "class", "enum", "actor"]
  private static let ends: Set<String> = [
    "let", "var", "func", "init", "deinit", "subscript", "case", "struct", "class", "enum", "actor",
    "extension", "typealias", "static", "private", "fileprivate", "internal", "package", "public",
    "mutating", "nonmutating", "lazy", "weak", "unowned", "final", "override", "indirect",
  ]

  /// Kind of an open brace.
  private enum Scope {
    case type(String)
    case other
  }

  mutating func add(_ tokens: SwiftTokens, of file: String) {
    let all = tokens.all
    var scopes: [Scope] = []
    var index = 0
    while index < all.count {
      let token = all[index]
      if token.mark == UInt8(ascii: "{") {
        scopes.append(.other)
      } else if token.mark == UInt8(ascii: "}") {
        _ = scopes.popLast()
      } else if let opening = opening(all, index, in: scopes, of: file) {
        scopes.append(opening.scope)
        index = opening.brace
      } else if case .type(let name)? = scopes.last {
        if token.word == "mutating" { types[name]?.hasMutation = true }
        if token.word == "let" || token.word == "var" {
          let (names, end) = Self.stored(all, index)
          if !Self.isStatic(all, index) { types[name]?.stored += names }
          index = end
          continue
        }
      }
      index += 1
    }
  }

  /// Opens a type or extension that begins here.
  private mutating func opening(
    _ all: [SwiftTokens.Token],
    _ index: Int,
    in scopes: [Scope],
    of file: String
  ) -> (scope: Scope, brace: Int)? {
    let word = all[index].word
    let isExtension = word == "extension"
    guard isExtension || Self.kinds.contains(word), index + 1 < all.count,
      !all[index + 1].word.isEmpty, all[index + 1].word != "func", all[index + 1].word != "var"
    else { return nil }
    var path = [all[index + 1].word]
    var position = index + 2
    while position + 1 < all.count, all[position].mark == UInt8(ascii: "."),
      !all[position + 1].word.isEmpty
    {
      path.append(all[position + 1].word)
      position += 2
    }
    while position < all.count, all[position].mark != UInt8(ascii: "{") { position += 1 }
    guard position < all.count else { return nil }
    var name = path.joined(separator: ".")
    if !isExtension, let outer = Self.name(of: scopes) { name = "\(outer).\(name)" }
    types[name, default: Measure()].files.insert(file)
    if isExtension { types[name]?.extensions.insert(file) }
    if word == "class" || word == "actor" { types[name]?.isClass = true }
    return (.type(name), position)
  }

  private static func name(of scopes: [Scope]) -> String? {
    for case .type(let name) in scopes.reversed() { return name }
    return nil
  }

  private static func isStatic(_ all: [SwiftTokens.Token], _ index: Int) -> Bool {
    var position = index - 1
    while position >= 0 {
      let token = all[position]
      if token.word == "static" || token.word == "class" { return true }
      let isModifier = ends.contains(token.word) && !["let", "var", "case"].contains(token.word)
      let isOfSet =
        ["set"].contains(token.word) || [UInt8(ascii: "("), UInt8(ascii: ")")].contains(token.mark)
      guard isModifier || isOfSet, token.line >= all[index].line - 1 else { return false }
      position -= 1
    }
    return false
  }

  /// Returns the names that a declaration stores, and the index after it.
  private static func stored(_ all: [SwiftTokens.Token], _ index: Int) -> ([String], Int) {
    var names: [String] = []
    var position = index + 1
    var depth = 0
    var wantsName = true
    while position < all.count {
      let token = all[position]
      switch token.mark {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ">") where all[position - 1].mark != UInt8(ascii: "-"): depth -= 1
      case UInt8(ascii: ",") where depth == 0: wantsName = true
      case UInt8(ascii: "=") where depth == 0: return (names, end(of: all, position))
      case UInt8(ascii: "{"):
        let isWatched =
          position + 1 < all.count && ["didSet", "willSet"].contains(all[position + 1].word)
        return (isWatched ? names : [], position)
      case UInt8(ascii: "}"), UInt8(ascii: ";"): return (names, position)
      default: break
      }
      if wantsName, !token.word.isEmpty {
        names.append(token.word)
        wantsName = false
      } else if token.line > all[position - 1].line, depth == 0,
        ends.contains(token.word) || token.mark == UInt8(ascii: "@")
          || token.mark == UInt8(ascii: "#")
      {
        return (names, position)
      }
      position += 1
    }
    return (names, position)
  }

  /// Returns the index after a value: at the next declaration's line or an unmatched closing brace.
  private static func end(of all: [SwiftTokens.Token], _ start: Int) -> Int {
    var position = start
    var depth = 0
    while position < all.count {
      let token = all[position]
      switch token.mark {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: "}"):
        depth -= 1
        if depth < 0 { return position }
      default: break
      }
      if position > start, depth == 0, token.line > all[position - 1].line,
        ends.contains(token.word) || token.mark == UInt8(ascii: "@")
          || token.mark == UInt8(ascii: "#")
      {
        return position
      }
      position += 1
    }
    return position
  }
}
