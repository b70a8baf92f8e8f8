internal import CCurl
internal import PrefetchCore

/// The URL of one handle in libcurl's own form, which spares it parsing while the server stays.
@safe final class URLHandle {
  let pointer: OpaquePointer
  /// Of the URL that it holds; nil where parts of it cannot be set by themselves.
  private var scheme: WebURL.Scheme?
  private var host = 0

  init() throws(Failure) {
    guard let pointer = unsafe curl_url() else {
      throw Failure(.internal, "libcurl could not make a URL")
    }
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe curl_url_cleanup(pointer)
  }

  /// Sets the whole of it; `number` is that of the host and port.
  func set(_ url: WebURL, host number: Int) throws(Failure) {
    scheme = nil
    try check(set(CURLUPART_URL, url.string, UInt32(CURLU_PATH_AS_IS)), url)
    scheme = url.scheme
    host = number
  }

  /// Sets what differs from the last request's.
  func set(_ queued: QueuedRequest) throws(Failure) {
    let (path, query) = (queued.request.url.path, queued.request.url.query)
    // Given by themselves, libcurl rewrites the escapes of paths and queries.
    guard scheme == queued.request.url.scheme, host == queued.assignment.origin, !hasEscape(path),
      !(query.map(hasEscape) ?? false)
    else { return try set(queued.request.url, host: queued.assignment.origin) }
    try check(set(CURLUPART_PATH, path), queued.request.url)
    try check(set(CURLUPART_QUERY, query), queued.request.url)
  }

  private func set(_ part: CURLUPart, _ text: String?, _ flags: UInt32 = 0) -> CURLUcode {
    guard let text else { return unsafe curl_url_set(pointer, part, nil, flags) }
    return unsafe text.withCString { unsafe curl_url_set(pointer, part, $0, flags) }
  }

  private func hasEscape(_ text: String) -> Bool {
    unsafe HeaderBytes.has(UInt8(ascii: "%"), in: text.utf8.span.bytes)
  }

  private func check(_ status: CURLUcode, _ url: @autoclosure () -> WebURL) throws(Failure) {
    guard status != CURLUE_OK else { return }
    scheme = nil
    throw Failure(.badURL, "libcurl does not accept `\(url().redacted)`")
  }
}
