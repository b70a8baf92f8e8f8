internal import CCurl
internal import PrefetchCore

/// A handle's URL in libcurl's parsed form, reused while the server stays the same.
@safe final class URLHandle {
  let pointer: OpaquePointer
  /// Scheme of the URL; nil when its parts cannot be set alone.
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

  func set(_ url: WebURL, host number: Int) throws(Failure) {
    scheme = nil
    try check(set(CURLUPART_URL, url.string, UInt32(CURLU_PATH_AS_IS)), url)
    scheme = url.scheme
    host = number
  }

  func set(_ queued: QueuedRequest) throws(Failure) {
    let (path, query) = (queued.request.url.path, queued.request.url.query)
    // libcurl rewrites escapes in a path or query that is set alone.
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
