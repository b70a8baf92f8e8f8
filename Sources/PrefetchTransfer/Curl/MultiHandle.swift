internal import CCurl
internal import PrefetchCore

@safe final class MultiHandle {
  private let pointer: UnsafeMutableRawPointer
  /// Open sockets, kept alive since connections report their closing to it until the end.
  private let sockets: OpenSockets

  init(_ sockets: OpenSockets) throws(Failure) {
    self.sockets = sockets
    guard let pointer = unsafe curl_multi_init() else {
      throw Failure(.internal, "libcurl could not make a set of transfers")
    }
    unsafe self.pointer = pointer
  }

  deinit {
    unsafe curl_multi_cleanup(pointer)
  }

  func set(_ option: CURLMoption, _ value: Int) throws(Failure) {
    try check(unsafe prefetch_curl_multi_setopt_long(pointer, option, value))
  }

  func add(_ handle: EasyHandle) throws(Failure) {
    try check(unsafe curl_multi_add_handle(pointer, handle.pointer))
  }

  func remove(_ handle: EasyHandle) {
    unsafe curl_multi_remove_handle(pointer, handle.pointer)
  }

  func perform() throws(Failure) {
    var running: CInt = 0
    try check(unsafe curl_multi_perform(pointer, &running))
  }

  /// Sleeps until a socket is ready, the bell rings or time is up; false if libcurl has no work.
  func poll(milliseconds: Int64, wokenBy bell: Bell) throws(Failure) -> Bool {
    var entry = curl_waitfd(
      fd: bell.descriptor,
      events: CShort(CURL_WAIT_POLLIN),
      revents: 0
    )
    let timeout = CInt(clamping: milliseconds)
    var ready: CInt = 0
    try check(unsafe curl_multi_poll(pointer, &entry, 1, timeout, &ready))
    guard ready > 0 else { return isTimerDue }
    guard entry.revents != 0 else { return true }
    bell.silence()
    return ready > 1 || isTimerDue
  }

  private var isTimerDue: Bool {
    var milliseconds = 0
    unsafe curl_multi_timeout(pointer, &milliseconds)
    return milliseconds == 0
  }

  func nextCompletion() -> (lane: Lane, result: CURLcode)? {
    var remaining: CInt = 0
    while let message = unsafe curl_multi_info_read(pointer, &remaining) {
      guard unsafe message.pointee.msg == CURLMSG_DONE,
        let handle = unsafe message.pointee.easy_handle, let lane = unsafe Lane.of(handle)
      else { continue }
      return unsafe (lane, prefetch_curl_message_result(message))
    }
    return nil
  }

  private func check(_ status: CURLMcode) throws(Failure) {
    guard status != CURLM_OK else { return }
    throw Failure(.internal, "libcurl: \(unsafe String(cString: curl_multi_strerror(status)))")
  }
}
