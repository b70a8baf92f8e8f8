package import PrefetchCore

package final class FolderResponder: Responder {
  package let heedsFields = false
  private let folder: ServedFolder

  package init(_ path: String) throws(Failure) {
    folder = try ServedFolder(path)
  }

  package func respond(to request: ServedRequest) -> Reply {
    .now(response(request))
  }

  private func response(_ request: ServedRequest) -> ServedResponse {
    let path = request.target.prefix { $0 != "?" }
    switch RequestPath(String(path)) {
    case .malformed: return .refusal(400)
    case .nowhere: return .refusal(404)
    case .file(let name):
      guard let file = folder.open(name) else { return .refusal(404) }
      return response(request, with: file, named: name)
    }
  }

  private func response(
    _ request: ServedRequest,
    with file: consuming ServedFile,
    named name: String
  ) -> ServedResponse {
    let version = file.version
    let descriptor = ServedDescriptor(owning: file.release())
    var headers = [(name: "Accept-Ranges", value: "bytes")]
    if let etag = version.etag { headers.append(("ETag", etag)) }
    if let modified = version.modified {
      headers.append(("Last-Modified", HTTPDate.format(modified)))
    }
    return ConditionalResponse(request, version, headers).response(
      with: [("Content-Type", ContentType.forFile(named: name))]
    ) { part in
      .file(descriptor, offset: part.lowerBound, length: Int64(part.count))
    }
  }
}

/// A response to a conditional or range request.
struct ConditionalResponse {
  private let request: ServedRequest
  private let version: ServedVersion
  private let headers: [(name: String, value: String)]

  init(
    _ request: ServedRequest,
    _ version: ServedVersion,
    _ headers: [(name: String, value: String)]
  ) {
    self.request = request
    self.version = version
    self.headers = headers
  }

  var part: Range<Int64>? {
    guard !request.isHead else { return nil }
    switch verdict {
    case .whole: return 0..<version.size
    case .part(let range): return range.lowerBound..<range.upperBound + 1
    case .notModified, .preconditionFailed, .unsatisfiableRange: return nil
    }
  }

  private var verdict: ConditionResult {
    var conditions = request.conditions
    // A range applies to GET only (RFC 9110 §14.2).
    if request.isHead { conditions.range = nil }
    return ConditionResult(to: conditions, about: version)
  }

  func response(
    with described: [(name: String, value: String)],
    body: (Range<Int64>) -> ServedResponse.Body
  ) -> ServedResponse {
    switch verdict {
    case .notModified:
      return ServedResponse(304, headers)
    case .preconditionFailed:
      return .refusal(412, nil, headers)
    case .unsatisfiableRange:
      return .refusal(416, nil, headers + [("Content-Range", "bytes */\(version.size)")])
    case .whole:
      return ServedResponse(200, headers + described, body: body(0..<version.size))
    case .part(let range):
      let contentRange = "bytes \(range.lowerBound)-\(range.upperBound)/\(version.size)"
      return ServedResponse(
        206,
        headers + described + [("Content-Range", contentRange)],
        body: body(range.lowerBound..<range.upperBound + 1)
      )
    }
  }
}
