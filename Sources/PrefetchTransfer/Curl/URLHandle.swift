internal import CCurl
internal import PrefetchCore

/// The URL of one handle in libcurl's own form, which spares it parsing while the server stays.
@safe final class URLHandle {
  let pointer: OpaquePointer
  private var origin: WebURL.Origin?

  init() throws(Failure) {
    guard let pointer = unsafe curl_url() else {
      throw Failure(.internal, "libcurl could not make a URL")
    }
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe curl_url_cleanup(pointer)
  }

  func set(_ url: WebURL) throws(Failure) {
    let origin = url.origin
    // Given by themselves, libcurl rewrites the escapes of paths and queries.
    guard self.origin == origin, !url.path.utf8.contains(UInt8(ascii: "%")),
      url.query?.utf8.contains(UInt8(ascii: "%")) != true
    else {
      self.origin = nil
      try check(
        unsafe curl_url_set(pointer, CURLUPART_URL, url.string, UInt32(CURLU_PATH_AS_IS)),
        url
      )
      self.origin = origin
      return
    }
    try check(unsafe curl_url_set(pointer, CURLUPART_PATH, url.path, 0), url)
    guard let query = url.query else {
      return try check(unsafe curl_url_set(pointer, CURLUPART_QUERY, nil, 0), url)
    }
    try check(unsafe curl_url_set(pointer, CURLUPART_QUERY, query, 0), url)
  }

  private func check(_ status: CURLUcode, _ url: WebURL) throws(Failure) {
    guard status != CURLUE_OK else { return }
    origin = nil
    throw Failure(.badURL, "libcurl does not accept `\(url.redacted)`")
  }
}
