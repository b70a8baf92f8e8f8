import PrefetchDocuments

/// A configuration that differs from a valid one in a single place.
struct SchemaProbe: Sendable {
  /// Path of the change without indices: `segments[].urls[].ttl`.
  var path: String
  /// Replacement as JSON; `no key` removes the key, `as NAME` respells it, `key NAME` adds another.
  var change: String
  /// Whole configuration as JSON.
  var document: String
}

/// Makes the probes of a whole configuration.
///
/// A probe keeps siblings that are no mappings, since checks between keys read them, and the
/// ancestors that make the place valid. Small documents are quick to judge.
struct SchemaProbes {
  private(set) var all: [SchemaProbe] = []
  private let values: [String]
  private let keys: [String]

  /// `values` and `keys` are the texts of JSON values.
  init(of configuration: JSONValue, values: [String], keys: [String]) {
    self.values = values
    self.keys = keys
    visit(configuration, at: "", { $0 }, below: { $0 })
  }

  /// `embed` makes the document with a value at the path; `below` makes the one for its parts.
  private mutating func visit(
    _ value: JSONValue,
    at path: String,
    _ embed: (JSONValue) -> JSONValue,
    below: (JSONValue) -> JSONValue
  ) {
    if !path.isEmpty { add(values.map { ($0, $0) }, at: path, embed(Self.mark)) }
    switch value {
    case .object(let members):
      visit(members, at: path, below)
    case .array(let elements):
      for element in elements {
        let embed = { (value: JSONValue) in below(.array([value])) }
        visit(element, at: "\(path)[]", embed, below: embed)
      }
    case .null, .bool, .integer, .double, .string:
      break
    }
  }

  private mutating func visit(
    _ members: [(String, JSONValue)],
    at path: String,
    _ embed: (JSONValue) -> JSONValue
  ) {
    let more = keys.map { ("key \($0)", $0) }
    add(more, at: path, embed(.object(members.filter(Self.isFlat) + [(Self.word, 1)])))
    for (key, value) in members {
      let siblings = members.filter { $0.0 != key }
      let (flat, needed) = (siblings.filter(Self.isFlat), siblings.filter(Self.isNeeded))
      let below = path.isEmpty ? key : "\(path).\(key)"
      add([("no key", "null")], at: below, embed(.object(siblings)))
      for spelling in Self.spellings(of: key) {
        add([("as \(spelling)", "null")], at: below, embed(.object(flat + [(spelling, value)])))
      }
      visit(value, at: below) {
        embed(.object(flat + [(key, $0)]))
      } below: {
        embed(.object(needed + [(key, $0)]))
      }
    }
  }

  /// A key of several words as `camelCase` and as `kebab-case`.
  private static func spellings(of key: String) -> [String] {
    let words = key.split(separator: "_")
    guard words.count > 1 else { return [] }
    let capitals = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return [words[0] + capitals.joined(), words.joined(separator: "-")]
  }

  private static let word = "the place of a probe"
  private static let mark = JSONValue.string(word)

  private mutating func add(
    _ changes: [(name: String, text: String)],
    at path: String,
    _ document: JSONValue
  ) {
    let text = JSONWriter.string(document)
    for change in changes {
      let document = text.replacing("\"\(Self.word)\"", with: change.text)
      all.append(SchemaProbe(path: path, change: change.name, document: document))
    }
  }

  /// Returns whether a key is needed by deeper places.
  private static func isNeeded(_ member: (key: String, value: JSONValue)) -> Bool {
    ["base", "manifests", "name", "url", "vars"].contains(member.key)
  }

  /// Whether a sibling stays; the values of variables do, wherever they are used.
  private static func isFlat(_ member: (key: String, value: JSONValue)) -> Bool {
    func holdsMapping(_ value: JSONValue) -> Bool {
      switch value {
      case .object: true
      case .array(let elements): elements.contains(where: holdsMapping)
      case .null, .bool, .integer, .double, .string: false
      }
    }
    return member.key == "vars" || !holdsMapping(member.value)
  }
}
