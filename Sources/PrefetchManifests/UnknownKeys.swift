internal import PrefetchCore

/// Unknown keys of a native manifest, newer or misspelled, which `manifest check` reports.
struct UnknownKeys {
  fileprivate enum Part: String {
    case manifest = "the manifest"
    case item = "an item"
    case thumbnail = "a thumbnail"
    case alternate = "an alternate"
    case name = "a source or category"
    case network = "`network`"
    case policy = "`policy`"

    var keys: [String] {
      switch self {
      case .manifest:
        [
          "format", "version", "generated", "expires", "bundle_id", "segment", "priority", "base",
          "next", "alternates", "network", "policy", "sources", "categories", "items",
        ]
      case .item:
        [
          "url", "id", "provider", "type", "title", "size", "digests", "integrity", "etag", "mime",
          "ttl", "expires", "mtime", "priority", "headers", "path", "alternates", "network",
          "required", "categories", "thumbnail", "behavior", "seconds", "info",
        ]
      case .thumbnail: ["url", "size", "digests", "integrity", "mime"]
      case .alternate: ["url", "priority"]
      case .name: ["id", "name", "parent"]
      case .network:
        [
          "allow", "metered", "unknown_metered", "windows", "timezone", "power", "battery_floor",
          "daily_limit", "monthly_limit",
        ]
      case .policy:
        Self.network.keys + ["max_file_size", "items_per_category", "features"]
      }
    }

    func part(at key: String) -> Part? {
      switch (self, key) {
      case (.manifest, "items"): .item
      case (.manifest, "sources"), (.manifest, "categories"): .name
      case (.manifest, "policy"): .policy
      case (.manifest, "network"), (.item, "network"): .network
      case (.item, "thumbnail"): .thumbnail
      case (.item, "alternates"): .alternate
      default: nil
      }
    }
  }

  fileprivate struct Finding {
    var key: String
    var part: Part
    var offset: Int
    var count = 1
  }

  private var cursor: JSONCursor
  private var findings: [Finding] = []
  private var depth = 0
  private static let most = 20

  /// Returns the diagnostics; for malformed JSON only those before the error.
  @unsafe static func diagnostics(in bytes: UnsafeRawBufferPointer, of name: String) -> [Diagnostic]
  {
    guard let cursor = unsafe JSONCursor(bytes) else { return [] }
    var keys = UnknownKeys(cursor: cursor)
    // After the object, items may follow on lines of their own.
    var part = Part.manifest
    while keys.cursor.next() != 0, keys.value(part) { part = .item }
    var place = unsafe TextPlace(bytes)
    return keys.findings.map { finding in
      place.move(to: finding.offset)
      let location = SourceLocation(
        file: name,
        line: 1,
        column: 1,
        length: finding.key.utf8.count + 2
      )
      return finding.diagnostic(at: place.inWhole(location))
    }
  }

  private init(cursor: JSONCursor) {
    self.cursor = cursor
  }

  private mutating func value(_ part: Part?) -> Bool {
    let first = cursor.next()
    let isGroup = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    guard let part, isGroup, depth < NativeManifest.maximumDepth else { return cursor.skipValue() }
    depth += 1
    defer { depth -= 1 }
    return first == UInt8(ascii: "{") ? object(part) : list(part)
  }

  private mutating func list(_ part: Part) -> Bool {
    guard cursor.take(UInt8(ascii: "[")) else { return false }
    if cursor.take(UInt8(ascii: "]")) { return true }
    repeat {
      guard value(part) else { return false }
    } while cursor.take(UInt8(ascii: ","))
    return cursor.take(UInt8(ascii: "]"))
  }

  private mutating func object(_ part: Part) -> Bool {
    guard cursor.take(UInt8(ascii: "{")) else { return false }
    if cursor.take(UInt8(ascii: "}")) { return true }
    repeat {
      guard cursor.next() == UInt8(ascii: "\"") else { return false }
      let start = cursor.offset
      var inner: Part?
      if let stretch = cursor.string() {
        let key = cursor.text(stretch)
        if part.keys.contains(key) {
          inner = part.part(at: key)
        } else {
          note(key, part, at: start)
        }
      } else if !cursor.skipValue() {
        return false
      }
      guard cursor.take(UInt8(ascii: ":")), value(inner) else { return false }
    } while cursor.take(UInt8(ascii: ","))
    return cursor.take(UInt8(ascii: "}"))
  }

  /// Records an unknown key at its first use; ignores private keys and the `$schema` of editors.
  private mutating func note(_ key: String, _ part: Part, at offset: Int) {
    guard !["x-", "x_", "$"].contains(where: key.hasPrefix) else { return }
    if let known = findings.firstIndex(where: { $0.key == key && $0.part == part }) {
      findings[known].count += 1
    } else if findings.count < Self.most {
      findings.append(Finding(key: key, part: part, offset: offset))
    }
  }
}

extension UnknownKeys.Finding {
  fileprivate func diagnostic(at location: SourceLocation) -> Diagnostic {
    let others = count > 1 ? ", and \(count - 1) more of it" : ""
    return Diagnostic(
      "manifest.unknown-key",
      "unknown key `\(key)` in \(part.rawValue)\(others), which is ignored",
      severity: .warning,
      hint: Suggestion.nearest(to: key, among: part.keys).map { "did you mean `\($0)`?" },
      at: location
    )
  }
}
