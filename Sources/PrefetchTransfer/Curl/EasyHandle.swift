internal import CCurl
internal import Glibc
internal import PrefetchCore

/// libcurl's easy handle, bound to its multi handle's thread; options keep their values.
@safe final class EasyHandle {
  let pointer: UnsafeMutableRawPointer
  private let errorText: UnsafeMutablePointer<CChar>
  let headers = HeaderList()
  let url: URLHandle
  /// Last values of the options that differ between requests.
  var current = RequestOptions.Current()
  private var currentHeaders: UnsafeMutablePointer<curl_slist>?
  private var address = ""
  private(set) var isListening = false
  private var isTracing = false
  private var isReuseForbidden = false
  private var isFreshDemanded = false
  /// Released after the handle, which uses the share.
  private let share: ConnectionShare?

  init(share: ConnectionShare?) throws(Failure) {
    self.share = share
    guard let pointer = unsafe curl_easy_init() else {
      throw Failure(.internal, "libcurl could not make a transfer handle")
    }
    unsafe self.pointer = pointer
    do throws(Failure) {
      url = try URLHandle()
    } catch {
      unsafe curl_easy_cleanup(pointer)
      throw error
    }
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    try unsafe set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(errorText))
    try unsafe set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(url.pointer))
    if let share {
      try check(unsafe prefetch_curl_setopt_share(pointer, share.pointer), CURLOPT_SHARE)
    }
  }

  deinit {
    unsafe curl_easy_cleanup(pointer)
    unsafe errorText.deallocate()
  }

  func set(_ option: CURLoption, _ value: Int) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_long(pointer, option, value), option)
  }

  func set(_ option: CURLoption, _ isOn: Bool) throws(Failure) {
    try set(option, isOn ? 1 : 0)
  }

  func set(_ option: CURLoption, offset value: Int64) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_offset(pointer, option, curl_off_t(value)), option)
  }

  func set(_ option: CURLoption, _ value: String?) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_string(pointer, option, value), option)
  }

  func set(_ option: CURLoption, pointer value: UnsafeMutableRawPointer?) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_pointer(pointer, option, value), option)
  }

  func set(
    _ option: CURLoption,
    function: @escaping prefetch_curl_write_callback
  ) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_write(pointer, option, function), option)
  }

  func set(seek: @escaping curl_seek_callback) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_seek(pointer, seek), CURLOPT_SEEKFUNCTION)
  }

  func set(prerequest: @escaping curl_prereq_callback) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_prerequest(pointer, prerequest), CURLOPT_PREREQFUNCTION)
  }

  func set(debug: @escaping curl_debug_callback) throws(Failure) {
    try check(unsafe prefetch_curl_setopt_debug(pointer, debug), CURLOPT_DEBUGFUNCTION)
  }

  func set(sslContext function: @escaping prefetch_curl_ssl_callback) throws(Failure) {
    try check(
      unsafe prefetch_curl_setopt_ssl_context(pointer, function),
      CURLOPT_SSL_CTX_FUNCTION
    )
  }

  func set(
    openSocket: @escaping curl_opensocket_callback,
    closeSocket: @escaping curl_closesocket_callback
  ) throws(Failure) {
    try check(
      unsafe prefetch_curl_setopt_open_socket(pointer, openSocket),
      CURLOPT_OPENSOCKETFUNCTION
    )
    try check(
      unsafe prefetch_curl_setopt_close_socket(pointer, closeSocket),
      CURLOPT_CLOSESOCKETFUNCTION
    )
  }

  func setHeaders() throws(Failure) {
    guard unsafe headers.first != currentHeaders else { return }
    unsafe currentHeaders = headers.first
    try check(
      unsafe prefetch_curl_setopt_list(pointer, CURLOPT_HTTPHEADER, currentHeaders),
      CURLOPT_HTTPHEADER
    )
  }

  /// Sets the body of a POST; libcurl copies the bytes.
  func set(postBody body: [UInt8]) throws(Failure) {
    try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count))
    let status = unsafe body.withUnsafeBytes { bytes in
      let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
      return unsafe prefetch_curl_setopt_pointer(pointer, CURLOPT_COPYPOSTFIELDS, start)
    }
    try check(status, CURLOPT_COPYPOSTFIELDS)
  }

  func number(_ info: CURLINFO) -> Int {
    var value = 0
    unsafe prefetch_curl_getinfo_long(pointer, info, &value)
    return value
  }

  /// TLS session of the connection in use; nil without TLS or with another OpenSSL than ours.
  var session: TLSSession? {
    var session: UnsafeMutableRawPointer?
    unsafe prefetch_curl_getinfo_pointer(pointer, CURLINFO_TLS_SSL_PTR, &session)
    guard let facts = unsafe session?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
      let connection = unsafe facts.internals
    else { return nil }
    return unsafe TLSSession(OpaquePointer(connection))
  }

  func offset(_ info: CURLINFO) -> Int64 {
    var value: curl_off_t = 0
    unsafe prefetch_curl_getinfo_offset(pointer, info, &value)
    return Int64(value)
  }

  /// Returns a time since the start of the transfer; nil for a phase that was not reached.
  func time(_ info: CURLINFO) -> Duration? {
    let microseconds = offset(info)
    return microseconds > 0 ? .microseconds(microseconds) : nil
  }

  /// Address of the last server; cached, since most responses come from the same address.
  var remoteAddress: String? {
    var value: UnsafePointer<CChar>?
    unsafe prefetch_curl_getinfo_string(pointer, CURLINFO_PRIMARY_IP, &value)
    guard let text = unsafe value, unsafe text.pointee != 0 else { return nil }
    if unsafe address.withCString({ unsafe strcmp($0, text) }) != 0 {
      address = unsafe String(cString: text)
    }
    return address
  }

  /// Turns libcurl's remarks on the response on or off, since they are costly.
  func listen(_ isOn: Bool) {
    guard isOn != isListening else { return }
    isListening = isOn
    guard !isTracing else { return }
    unsafe prefetch_curl_setopt_long(pointer, CURLOPT_VERBOSE, isOn ? 1 : 0)
  }

  func trace() {
    isTracing = true
    unsafe prefetch_curl_setopt_long(pointer, CURLOPT_VERBOSE, 1)
  }

  func forbidReuse(_ isForbidden: Bool) {
    guard isForbidden != isReuseForbidden else { return }
    isReuseForbidden = isForbidden
    unsafe prefetch_curl_setopt_long(pointer, CURLOPT_FORBID_REUSE, isForbidden ? 1 : 0)
  }

  func demandFreshConnection(_ isDemanded: Bool) {
    guard isDemanded != isFreshDemanded else { return }
    isFreshDemanded = isDemanded
    unsafe prefetch_curl_setopt_long(pointer, CURLOPT_FRESH_CONNECT, isDemanded ? 1 : 0)
  }

  /// Makes libcurl read without a ready socket: a session's end may have come with the last bytes.
  func lookAgain() {
    unsafe curl_easy_pause(pointer, CURLPAUSE_RECV)
    unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
  }

  func perform() -> CURLcode {
    unsafe curl_easy_perform(pointer)
  }

  func pause() {
    unsafe curl_easy_pause(pointer, CURLPAUSE_RECV)
  }

  func resume() {
    unsafe curl_easy_pause(pointer, CURLPAUSE_CONT)
  }

  func clearError() {
    unsafe errorText.pointee = 0
  }

  var lastError: String {
    unsafe String(cString: errorText)
  }

  private func check(_ status: CURLcode, _ option: CURLoption) throws(Failure) {
    guard status != CURLE_OK else { return }
    let reason = unsafe String(cString: curl_easy_strerror(status))
    throw Failure(.internal, "libcurl refused option \(option.rawValue): \(reason)")
  }
}
