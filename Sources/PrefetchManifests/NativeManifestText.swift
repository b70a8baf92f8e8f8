package import PrefetchCore
internal import PrefetchDocuments

/// Writes a native manifest; equal facts give equal text.
package struct NativeManifestText {
  package enum Layout: Hashable, Sendable {
    case document
    /// The object without its items, then one item per line.
    case lines
  }

  package struct Heading: Hashable, Sendable {
    package var base: WebURL
    package var generated: Instant
    package var expires: Instant?
    package var segment: String?
    package var priority: Int?

    package init(base: WebURL, generated: Instant) {
      self.base = base
      self.generated = generated
    }
  }

  package struct Item: Hashable, Sendable {
    package var url: String
    /// Published name; nil when it equals the URL.
    package var path: String?
    package var size: Int64
    package var modified: Instant
    package var digest: ContentDigest
    package var type: String?
    package var mime: String?

    package init(url: String, size: Int64, modified: Instant, digest: ContentDigest) {
      self.url = url
      self.size = size
      self.modified = modified
      self.digest = digest
    }
  }

  private let layout: Layout
  private var isFirst = true

  package init(_ layout: Layout) {
    self.layout = layout
  }

  package func opening(_ heading: Heading) -> [UInt8] {
    var members: [(String, JSONValue)] = [
      ("format", "prefetch-manifest"), ("version", 1),
      ("generated", .string(Timestamp.format(heading.generated))),
    ]
    if let expires = heading.expires {
      members.append(("expires", .string(Timestamp.format(expires))))
    }
    if let segment = heading.segment { members.append(("segment", .string(segment))) }
    if let priority = heading.priority { members.append(("priority", .integer(Int64(priority)))) }
    members.append(("base", .string(heading.base.string)))
    switch layout {
    case .lines:
      return JSONWriter.bytes(.object(members))
    case .document:
      let lines = members.map { key, value in
        "  \"\(key)\": \(JSONWriter.string(value)),\n"
      }
      return Array(("{\n" + lines.joined() + "  \"items\": [").utf8)
    }
  }

  package mutating func item(_ item: Item) -> [UInt8] {
    var members: [(String, JSONValue)] = [("url", .string(item.url))]
    if let path = item.path { members.append(("path", .string(path))) }
    if let type = item.type { members.append(("type", .string(type))) }
    members += [
      ("size", .integer(item.size)), ("mtime", .string(Timestamp.format(item.modified))),
    ]
    if let mime = item.mime { members.append(("mime", .string(mime))) }
    let digest: JSONValue = ["sha256": .string(item.digest.hexadecimal)]
    members.append(("digests", digest))
    let separator =
      switch layout {
      case .lines: "\n"
      case .document: isFirst ? "\n    " : ",\n    "
      }
    isFirst = false
    return Array(separator.utf8) + JSONWriter.bytes(.object(members))
  }

  package func closing() -> [UInt8] {
    switch layout {
    case .lines: Array("\n".utf8)
    case .document: Array((isFirst ? "]\n}\n" : "\n  ]\n}\n").utf8)
    }
  }
}

extension NativeManifestText {
  /// Escapes a path into a relative reference without scheme, query and fragment.
  package static func reference(to path: String) -> String {
    var text: [UInt8] = []
    for byte in path.utf8 {
      if unescapedBytes.contains(byte) {
        text.append(byte)
      } else {
        text.append(UInt8(ascii: "%"))
        text += Hexadecimal.encode([byte]).uppercased().utf8
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let unescapedBytes = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=@/".utf8
  )

  package static func isPublishable(path: String) -> Bool {
    PublishedName.isSafe(path)
  }
}
