internal import CMicroHTTPD
internal import Glibc
internal import PrefetchCore

enum HTTPConnection {
  static func put(_ served: ServedResponse, to connection: OpaquePointer) -> MHD_Result {
    guard let response = unsafe response(served.body) else { return .NO }
    defer { unsafe MHD_destroy_response(response) }
    for (name, value) in served.headers {
      unsafe MHD_add_response_header(response, name, value)
    }
    unsafe MHD_add_response_header(response, "X-Content-Type-Options", "nosniff")
    return unsafe MHD_queue_response(connection, UInt32(served.status), response)
  }

  private static func response(_ body: ServedResponse.Body) -> OpaquePointer? {
    switch body {
    case .none:
      return unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    case .text(var text):
      return text.withUTF8 {
        unsafe MHD_create_response_from_buffer(
          $0.count,
          UnsafeMutableRawPointer(mutating: $0.baseAddress),
          .RESPMEM_MUST_COPY
        )
      }
    case .file(let file, let offset, let length):
      let descriptor = file.detach()
      let response = unsafe MHD_create_response_from_fd_at_offset64(
        UInt64(length),
        descriptor,
        UInt64(offset)
      )
      if unsafe response == nil { close(descriptor) }
      return unsafe response
    case .unsent(let length):
      return unsafe response(NoReader(), length)
    case .read(let reader, let length):
      return unsafe response(reader, length)
    }
  }

  private static func response(_ reader: any ServedReader, _ length: Int64) -> OpaquePointer? {
    let holder = unsafe Unmanaged.passRetained(ReaderHolder(reader: reader)).toOpaque()
    let response = unsafe MHD_create_response_from_callback(
      UInt64(length),
      chunkSize,
      readChunk,
      holder,
      releaseReader
    )
    if unsafe response == nil { unsafe Unmanaged<ReaderHolder>.fromOpaque(holder).release() }
    return unsafe response
  }

  private static let chunkSize = 64 << 10

  static func header(_ name: String, of connection: OpaquePointer) -> String? {
    unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name).map {
      unsafe String(cString: $0)
    }
  }

  static func count(_ name: String, of connection: OpaquePointer) -> Int {
    guard unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name) != nil else {
      return 0
    }
    return unsafe all(name, of: connection).count
  }

  static func all(_ name: String, of connection: OpaquePointer) -> [String] {
    unsafe fields(of: connection, named: name).map(\.value)
  }

  static func fields(of connection: OpaquePointer, named name: String? = nil) -> [HeaderField] {
    let list = HeaderList(name: name)
    unsafe MHD_get_connection_values(
      connection,
      .HEADER_KIND,
      collectHeader,
      Unmanaged.passUnretained(list).toOpaque()
    )
    return list.fields
  }
}

extension ServedRequest {
  init(target: String, of connection: OpaquePointer) {
    self.init(target: target)
    unsafe conditions = RequestConditions(
      ifMatch: HTTPConnection.header("If-Match", of: connection),
      ifNoneMatch: HTTPConnection.header("If-None-Match", of: connection),
      ifModifiedSince: HTTPConnection.header("If-Modified-Since", of: connection),
      ifUnmodifiedSince: HTTPConnection.header("If-Unmodified-Since", of: connection),
      ifRange: HTTPConnection.header("If-Range", of: connection),
      range: HTTPConnection.header("Range", of: connection)
    )
    if unsafe HTTPConnection.header("Cache-Control", of: connection) != nil {
      cacheControl = unsafe HTTPConnection.all("Cache-Control", of: connection)
        .joined(separator: ", ")
    }
    unsafe pragma = HTTPConnection.header("Pragma", of: connection)
  }
}

private final class NoReader: ServedReader {
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? { nil }
}

private final class ReaderHolder {
  let reader: any ServedReader

  init(reader: any ServedReader) {
    self.reader = reader
  }
}

private final class HeaderList {
  let name: String?
  var fields: [HeaderField] = []

  init(name: String?) {
    self.name = name
  }
}

private func readChunk(
  _ context: UnsafeMutableRawPointer?,
  _ offset: UInt64,
  _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: Int
) -> Int {
  guard let context = unsafe context, let buffer = unsafe buffer else { return -2 }
  let holder = unsafe Unmanaged<ReaderHolder>.fromOpaque(context).takeUnretainedValue()
  let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size)
  guard let count = unsafe holder.reader.read(into: room, at: Int64(offset)), count > 0 else {
    return -2
  }
  return count
}

private func releaseReader(_ context: UnsafeMutableRawPointer?) {
  guard let context = unsafe context else { return }
  unsafe Unmanaged<ReaderHolder>.fromOpaque(context).release()
}

private func collectHeader(
  _ context: UnsafeMutableRawPointer?,
  _ kind: MHD_ValueKind,
  _ name: UnsafePointer<CChar>?,
  _ value: UnsafePointer<CChar>?
) -> MHD_Result {
  guard let context = unsafe context, let name = unsafe name else { return .NO }
  let list = unsafe Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
  if list.name.map({ unsafe strcasecmp(name, $0) == 0 }) ?? true {
    let value = unsafe value.map { unsafe String(cString: $0) } ?? ""
    list.fields.append(HeaderField(unsafe String(cString: name), value))
  }
  return .YES
}
