internal import CCurl
internal import PrefetchCore

extension EasyHandle {
  /// libcurl's callbacks are the same for every request; only what they feed changes.
  func prepareCallbacks() throws(Failure) {
    try unsafe set(CURLOPT_HEADERFUNCTION, function: receiveHeader)
    try unsafe set(CURLOPT_WRITEFUNCTION, function: receiveBody)
    try unsafe set(prerequest: noteRequest)
  }

  /// The lane owns the handle, so it lives as long.
  func attach(_ lane: Lane) throws(Failure) {
    let address = unsafe Unmanaged.passUnretained(lane).toOpaque()
    for option in [
      CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA,
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
  guard let exchange = unsafe lane(at: context)?.exchange, let bytes = unsafe bytes else {
    return 0
  }
  let start = unsafe UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
  let line = unsafe UnsafeBufferPointer(start: start, count: size * count)
  return unsafe exchange.receiveHeader(line.span) ? size * count : 0
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard size * count > 0 else { return 0 }
  guard let lane = unsafe lane(at: context) else { return 0 }
  let body = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe lane.receiveBody(body.bytes) ? size * count : 0
}

private func noteRequest(
  _ context: UnsafeMutableRawPointer?,
  _ remoteAddress: UnsafeMutablePointer<CChar>?,
  _ localAddress: UnsafeMutablePointer<CChar>?,
  _ remotePort: CInt,
  _ localPort: CInt
) -> CInt {
  unsafe lane(at: context)?.exchange?.isRequested = true
  return CURL_PREREQFUNC_OK
}

private func lane(at context: UnsafeMutableRawPointer?) -> Lane? {
  guard let context = unsafe context else { return nil }
  return unsafe Unmanaged<Lane>.fromOpaque(context).takeUnretainedValue()
}

extension Lane {
  /// The lane of a handle, as one of libcurl's messages names it.
  static func of(_ handle: UnsafeMutableRawPointer) -> Lane? {
    var context: UnsafeMutableRawPointer?
    unsafe prefetch_curl_getinfo_pointer(handle, CURLINFO_PRIVATE, &context)
    return unsafe lane(at: context)
  }
}
