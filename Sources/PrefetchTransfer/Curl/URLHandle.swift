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

  /// `number` is that of the host and port.
  func set(_ url: WebURL, host number: Int) throws(Failure) {
    // Given by themselves, libcurl rewrites the escapes of paths and queries.
    guard scheme == url.scheme, host == number, !hasEscape(url.path),
      !(url.query.map(hasEscape) ?? false)
    else {
      scheme = nil
      try check(set(CURLUPART_URL, url.string, UInt32(CURLU_PATH_AS_IS)), url)
      scheme = url.scheme
      host = number
      return
    }
    try check(set(CURLUPART_PATH, url.path), url)
    guard let query = url.query else {
      return try check(unsafe curl_url_set(pointer, CURLUPART_QUERY, nil, 0), url)
    }
    try check(set(CURLUPART_QUERY, query), url)
  }

  private func set(_ part: CURLUPart, _ text: String, _ flags: UInt32 = 0) -> CURLUcode {
    unsafe text.withCString { unsafe curl_url_set(pointer, part, $0, flags) }
  }

  private func hasEscape(_ text: String) -> Bool {
    unsafe HeaderBytes.has(UInt8(ascii: "%"), in: text.utf8.span.bytes)
  }

  private func check(_ status: CURLUcode, _ url: WebURL) throws(Failure) {
    guard status != CURLUE_OK else { return }
    scheme = nil
    throw Failure(.badURL, "libcurl does not accept `\(url.redacted)`")
  }
}
