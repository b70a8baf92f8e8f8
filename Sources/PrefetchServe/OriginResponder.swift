internal import CMicroHTTPD
internal import Glibc
internal import PrefetchCore

/// Answers the requests of one server; immutable, since the server's own thread calls it.
final class OriginResponder: Sendable {
  private let folder: ServedFolder
  private let gate: RequestGate

  init(folder: consuming ServedFolder, gate: RequestGate) {
    self.folder = folder
    self.gate = gate
  }

  func answer(_ connection: OpaquePointer, method: String, path: String) -> MHD_Result {
    let host = unsafe Self.header("Host", of: connection)
    guard gate.admits(host: host, origin: unsafe Self.header("Origin", of: connection)) else {
      return unsafe Self.refuse(connection, 403, "Forbidden")
    }
    guard method == "GET" || method == "HEAD" else {
      return unsafe Self.refuse(connection, 405, "Method Not Allowed", [("Allow", "GET, HEAD")])
    }
    switch RequestPath(path) {
    case .malformed:
      return unsafe Self.refuse(connection, 400, "Bad Request")
    case .nowhere:
      return unsafe Self.refuse(connection, 404, "Not Found")
    case .file(let name):
      guard let file = folder.open(name) else {
        return unsafe Self.refuse(connection, 404, "Not Found")
      }
      return unsafe Self.send(file, named: name, to: connection, method: method)
    }
  }

  private static func send(
    _ file: consuming ServedFile,
    named name: String,
    to connection: OpaquePointer,
    method: String
  ) -> MHD_Result {
    let validators = file.validators
    var headers = [
      ("ETag", validators.etag), ("Last-Modified", HTTPDate.format(validators.modified)),
      ("Accept-Ranges", "bytes"),
    ]
    var conditions = unsafe conditions(of: connection)
    // RFC 9110 §14.2: a range means something for GET alone.
    if method == "HEAD" { conditions.range = nil }
    switch FileAnswer(to: conditions, about: validators) {
    case .notModified:
      return unsafe queue(
        connection,
        304,
        unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT),
        headers
      )
    case .preconditionFailed:
      return unsafe refuse(connection, 412, "Precondition Failed", headers)
    case .unsatisfiableRange:
      headers.append(("Content-Range", "bytes */\(validators.size)"))
      return unsafe refuse(connection, 416, "Range Not Satisfiable", headers)
    case .whole:
      headers.append(("Content-Type", ContentType.forFile(named: name)))
      return unsafe queue(connection, 200, body(of: file, 0, validators.size), headers)
    case .part(let range):
      headers.append(("Content-Type", ContentType.forFile(named: name)))
      headers.append(
        ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound)/\(validators.size)")
      )
      let length = range.upperBound - range.lowerBound + 1
      return unsafe queue(connection, 206, body(of: file, range.lowerBound, length), headers)
    }
  }

  /// The response owns the descriptor from here on.
  private static func body(
    of file: consuming ServedFile,
    _ offset: Int64,
    _ length: Int64
  ) -> OpaquePointer? {
    let descriptor = file.release()
    let response = unsafe MHD_create_response_from_fd_at_offset64(
      UInt64(length),
      descriptor,
      UInt64(offset)
    )
    if unsafe response == nil { close(descriptor) }
    return unsafe response
  }

  private static func refuse(
    _ connection: OpaquePointer,
    _ status: UInt32,
    _ reason: String,
    _ headers: [(String, String)] = []
  ) -> MHD_Result {
    var text = Array("\(status) \(reason)\n".utf8)
    let response = unsafe text.withUnsafeMutableBytes {
      unsafe MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
    }
    return unsafe queue(
      connection,
      status,
      response,
      headers + [("Content-Type", "text/plain; charset=utf-8")]
    )
  }

  private static func queue(
    _ connection: OpaquePointer,
    _ status: UInt32,
    _ response: OpaquePointer?,
    _ headers: [(String, String)]
  ) -> MHD_Result {
    guard let response = unsafe response else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    for (name, value) in headers + [("X-Content-Type-Options", "nosniff")] {
      unsafe MHD_add_response_header(response, name, value)
    }
    return unsafe MHD_queue_response(connection, status, response)
  }

  private static func conditions(of connection: OpaquePointer) -> RequestConditions {
    unsafe RequestConditions(
      ifMatch: header("If-Match", of: connection),
      ifNoneMatch: header("If-None-Match", of: connection),
      ifModifiedSince: header("If-Modified-Since", of: connection),
      ifUnmodifiedSince: header("If-Unmodified-Since", of: connection),
      ifRange: header("If-Range", of: connection),
      range: header("Range", of: connection)
    )
  }

  private static func header(_ name: String, of connection: OpaquePointer) -> String? {
    unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name).map {
      unsafe String(cString: $0)
    }
  }
}
