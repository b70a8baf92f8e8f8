internal import PrefetchCore

/// Unknown keys of a native manifest, newer or misspelled, which `manifest check` reports.
struct UnknownKeys {
  fileprivate enum Level: String {
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

    func level(at key: String) -> Level? {
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
    var level: Level
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
    var level = Level.manifest
    while keys.cursor.next() != 0, keys.value(level) { level = .item }
    var position = unsafe TextPosition(bytes)
    return keys.findings.map { finding in
      position.move(to: finding.offset)
      let location = SourceLocation(
        file: name,
        line: 1,
        column: 1,
        length: finding.key.utf8.count + 2
      )
      return finding.diagnostic(at: position.inWhole(location))
    }
  }

  private init(cursor: JSONCursor) {
    self.cursor = cursor
  }

  private mutating func value(_ level: Level?) -> Bool {
    let first = cursor.next()
    let isGroup = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    guard let level, isGroup, depth < NativeManifest.maximumDepth else { return cursor.skipValue() }
    depth += 1
    defer { depth -= 1 }
    return first == UInt8(ascii: "{") ? object(level) : list(level)
  }

  private mutating func list(_ level: Level) -> Bool {
    guard cursor.accept(UInt8(ascii: "[")) else { return false }
    if cursor.accept(UInt8(ascii: "]")) { return true }
    repeat {
      guard value(level) else { return false }
    } while cursor.accept(UInt8(ascii: ","))
    return cursor.accept(UInt8(ascii: "]"))
  }

  private mutating func object(_ level: Level) -> Bool {
    guard cursor.accept(UInt8(ascii: "{")) else { return false }
    if cursor.accept(UInt8(ascii: "}")) { return true }
    repeat {
      guard cursor.next() == UInt8(ascii: "\"") else { return false }
      let start = cursor.offset
      var inner: Level?
      if let stretch = cursor.string() {
        let key = cursor.text(stretch)
        if level.keys.contains(key) {
          inner = level.level(at: key)
        } else {
          record(key, level, at: start)
        }
      } else if !cursor.skipValue() {
        return false
      }
      guard cursor.accept(UInt8(ascii: ":")), value(inner) else { return false }
    } while cursor.accept(UInt8(ascii: ","))
    return cursor.accept(UInt8(ascii: "}"))
  }

  /// Records an unknown key at its first use; ignores private keys and the `$schema` of editors.
  private mutating func record(_ key: String, _ level: Level, at offset: Int) {
    guard !["x-", "x_", "$"].contains(where: key.hasPrefix) else { return }
    if let known = findings.firstIndex(where: { $0.key == key && $0.level == level }) {
      findings[known].count += 1
    } else if findings.count < Self.most {
      findings.append(Finding(key: key, level: level, offset: offset))
    }
  }
}

extension UnknownKeys.Finding {
  fileprivate func diagnostic(at location: SourceLocation) -> Diagnostic {
    let others = count > 1 ? ", and \(count - 1) more of it" : ""
    return Diagnostic(
      "manifest.unknown-key",
      "unknown key `\(key)` in \(level.rawValue)\(others), which is ignored",
      severity: .warning,
      hint: Suggestion.nearest(to: key, among: level.keys).map { "did you mean `\($0)`?" },
      at: location
    )
  }
}
