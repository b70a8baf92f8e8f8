internal import CCurl
internal import PrefetchCore

extension EasyHandle {
  /// libcurl's callbacks are the same for every request; only what they feed changes.
  func prepareCallbacks() throws(Failure) {
    try unsafe set(CURLOPT_HEADERFUNCTION, function: receiveHeader)
    try unsafe set(CURLOPT_WRITEFUNCTION, function: receiveBody)
    try unsafe set(progress: noteProgress)
    try unsafe set(prerequest: noteRequest)
  }

  /// The lane owns the handle, so it lives as long.
  func attach(_ lane: Lane) throws(Failure) {
    let address = unsafe Unmanaged.passUnretained(lane).toOpaque()
    for option in [
      CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_XFERINFODATA,
      CURLOPT_PREREQDATA,
    ] {
      try unsafe set(option, pointer: address)
    }
  }
}

// libcurl refuses new transfers inside callbacks, so they only record. A count that differs from
// the one given, or any other than zero, ends the transfer.

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let exchange = unsafe exchange(at: context) else { return 0 }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe exchange.receiveHeader(line.bytes) ? size * count : 0
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard size * count > 0 else { return 0 }
  guard let exchange = unsafe exchange(at: context) else { return 0 }
  let body = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe exchange.receiveBody(body.bytes) ? size * count : 0
}

private func noteProgress(
  _ context: UnsafeMutableRawPointer?,
  _ downloadTotal: curl_off_t,
  _ downloaded: curl_off_t,
  _ uploadTotal: curl_off_t,
  _ uploaded: curl_off_t
) -> CInt {
  unsafe exchange(at: context)?.wireSize = Int64(downloaded)
  return 0
}

private func noteRequest(
  _ context: UnsafeMutableRawPointer?,
  _ remoteAddress: UnsafeMutablePointer<CChar>?,
  _ localAddress: UnsafeMutablePointer<CChar>?,
  _ remotePort: CInt,
  _ localPort: CInt
) -> CInt {
  unsafe exchange(at: context)?.isRequested = true
  return CURL_PREREQFUNC_OK
}

private func exchange(at context: UnsafeMutableRawPointer?) -> WireExchange? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<Lane>.fromOpaque(context).takeUnretainedValue().exchange
}

extension Lane {
  /// The lane of a handle, as one of libcurl's messages names it.
  static func of(_ handle: UnsafeMutableRawPointer) -> Lane? {
    var context: UnsafeMutableRawPointer?
    unsafe prefetch_curl_getinfo_pointer(handle, CURLINFO_PRIVATE, &context)
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Lane>.fromOpaque(context).takeUnretainedValue()
  }
}
