import PrefetchCore
import PrefetchDocuments
import PrefetchManifests

/// Record of an origin's answer in the shared store: JSON of layout `prefetch-origin/1`.
enum OriginRecord {
  private static let format = "prefetch-origin/1"

  static func encode(_ response: OriginResponse) -> [UInt8] {
    JSONWriter.bytes(
      .object([
        ("format", .string(format)),
        ("url", .string(WebURL.redacted(response.url))),
        ("digest", .string(response.digest.description)),
        ("size", .integer(response.size)),
        ("status", .integer(Int64(response.status))),
        ("answered", .string(Timestamp.format(response.respondedAt))),
        ("local", .bool(response.isFromHere)),
        (
          "headers",
          .array(
            response.headers.fields.map { .array([.string($0.name), .string($0.value)]) }
          )
        ),
        ("hops", .array(response.redirects.map(encode))),
      ])
    )
  }

  private static func encode(_ hop: OriginResponse.Redirect) -> JSONValue {
    let (word, until): (String, Instant?) =
      switch hop.freshness {
      case .declared(let until): ("stated", until)
      case .undeclared(let until): ("silent", until == .distantFuture ? nil : until)
      case .alwaysRevalidate: ("asked", nil)
      }
    return .object([
      ("status", .integer(Int64(hop.status))),
      ("url", .string(hop.target)),
      ("freshness", .string(word)),
      ("until", until.map { .string(Timestamp.format($0)) } ?? .null),
    ])
  }

  /// Returns nil for another document or impossible values.
  static func decode(_ bytes: [UInt8], of url: String) -> OriginResponse? {
    var limits = DocumentReader.Limits()
    limits.bytes = bytes.count
    limits.depth = 8
    let outcome = DocumentReader.read(bytes, source: "record", syntax: .json, limits: limits)
    guard outcome.diagnostics.isEmpty, let node = outcome.node, text(node["format"]) == format,
      let digest = text(node["digest"]).flatMap({ ContentDigest($0) }),
      let size = number(node["size"]), size >= 0,
      let status = number(node["status"]), [200, 203].contains(status),
      let respondedAt = text(node["answered"]).flatMap({ Timestamp.parse($0) }),
      let headers = node["headers"]?.sequence, let hops = node["hops"]?.sequence,
      text(node["url"]) == WebURL.redacted(url)
    else { return nil }
    var fields: [HeaderField] = []
    for header in headers {
      guard let pair = header.sequence, pair.count == 2, let name = text(pair[0]),
        RequestHeader.isName(name), let value = text(pair[1]), RequestHeader.isValue(value)
      else { return nil }
      fields.append(HeaderField(name, value))
    }
    var response = OriginResponse(
      url: url,
      digest: digest,
      size: size,
      headers: HeaderBlock(fields),
      respondedAt: respondedAt
    )
    response.status = Int(status)
    response.isFromHere =
      node["local"]?.scalar.map { $0.kind == .boolean && $0.text == "true" } ?? false
    for hop in hops {
      guard let status = number(hop["status"]), [301, 302, 303, 307, 308].contains(status),
        let target = text(hop["url"]), (try? WebURL(target)) != nil,
        let freshness = freshness(hop)
      else { return nil }
      response.redirects.append(
        OriginResponse.Redirect(status: Int(status), target: target, freshness: freshness)
      )
    }
    return response
  }

  private static func freshness(_ hop: Node) -> Freshness? {
    let until = text(hop["until"]).flatMap { Timestamp.parse($0) }
    switch text(hop["freshness"]) {
    case "stated": return until.map { .declared(until: $0) }
    case "silent": return .undeclared(until: until ?? .distantFuture)
    case "asked": return .alwaysRevalidate
    default: return nil
    }
  }

  private static func text(_ node: Node?) -> String? {
    guard let scalar = node?.scalar, scalar.kind == .string else { return nil }
    return scalar.text
  }

  private static func number(_ node: Node?) -> Int64? {
    guard let scalar = node?.scalar, scalar.kind == .number else { return nil }
    return Int64(scalar.text)
  }
}
