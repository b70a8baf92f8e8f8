internal import CCurl
internal import Glibc
internal import PrefetchCore

extension EasyHandle {
  func prepareCallbacks() throws(Failure) {
    try unsafe set(CURLOPT_HEADERFUNCTION, function: receiveHeader)
    try unsafe set(CURLOPT_WRITEFUNCTION, function: receiveBody)
    try unsafe set(CURLOPT_READFUNCTION, function: sendBody)
    try unsafe set(seek: seekBody)
    try unsafe set(prerequest: requestStarts)
    try unsafe set(debug: debugDataArrives)
    try unsafe set(openSocket: openSocket, closeSocket: closeSocket)
  }

  /// Passes the lane to the callbacks; the lane owns the handle and lives as long.
  func attach(_ lane: Lane) throws(Failure) {
    let address = unsafe Unmanaged.passUnretained(lane).toOpaque()
    for option in [
      CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_PREREQDATA,
      CURLOPT_DEBUGDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
    ] {
      try unsafe set(option, pointer: address)
    }
    // A connection may outlive the lane, but not its pool's sockets.
    let sockets = unsafe Unmanaged.passUnretained(lane.pool.sockets).toOpaque()
    try unsafe set(CURLOPT_CLOSESOCKETDATA, pointer: sockets)
    guard lane.pool.options.library.hasOurOpenSSL else { return }
    try unsafe set(sslContext: prepareHandshake)
    try unsafe set(CURLOPT_SSL_CTX_DATA, pointer: address)
  }
}

// libcurl refuses new transfers inside callbacks, so they only record. Returning another count than
// the given one, or another status than zero, ends the transfer.

private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let context = unsafe context else { return 0 }
  let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  // Called for every line: no retain, since the lane owns libcurl's handle.
  return unsafe Unmanaged<Lane>.fromOpaque(context)._withUnsafeGuaranteedRef { lane in
    unsafe lane.receiveHeader(line.bytes) ? size * count : 0
  }
}

private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard size * count > 0 else { return 0 }
  guard let lane = unsafe Lane.at(context) else { return 0 }
  let body = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
  return unsafe lane.receiveBody(body.bytes) ? size * count : 0
}

private func sendBody(
  _ bytes: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ count: Int,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
  guard let transfer = unsafe Lane.at(context)?.transfer else { return Int(CURL_READFUNC_ABORT) }
  transfer.hasActivity = true
  return unsafe transfer.upload?.read(into: buffer) ?? Int(CURL_READFUNC_ABORT)
}

private func seekBody(
  _ context: UnsafeMutableRawPointer?,
  _ offset: curl_off_t,
  _ origin: CInt
) -> CInt {
  guard origin == SEEK_SET, let upload = unsafe Lane.at(context)?.transfer?.upload else {
    return CURL_SEEKFUNC_CANTSEEK
  }
  upload.position = Int64(offset)
  return CURL_SEEKFUNC_OK
}

private func requestStarts(
  _ context: UnsafeMutableRawPointer?,
  _ remoteAddress: UnsafeMutablePointer<CChar>?,
  _ localAddress: UnsafeMutablePointer<CChar>?,
  _ remotePort: CInt,
  _ localPort: CInt
) -> CInt {
  guard let lane = unsafe Lane.at(context), lane.willSend(localPort: Int(localPort)) else {
    return CURL_PREREQFUNC_ABORT
  }
  return CURL_PREREQFUNC_OK
}

private func debugDataArrives(
  _ handle: UnsafeMutableRawPointer?,
  _ kind: curl_infotype,
  _ text: UnsafeMutablePointer<CChar>?,
  _ size: Int,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  if kind == CURLINFO_HEADER_IN {
    guard size > 0, let first = unsafe text?.pointee, first == 0x20 || first == 0x09,
      unsafe Lane.at(context)?.hidesFoldedLine() == true
    else { return 0 }
    // libcurl reads the line after this call, and must not take it for a continued header.
    unsafe text?.pointee = CChar(UInt8(ascii: ":"))
    return 0
  }
  let bytes = unsafe UnsafeRawBufferPointer(start: text, count: size)
  switch kind {
  case CURLINFO_TEXT: unsafe Lane.at(context)?.receiveRemark(bytes.bytes)
  case CURLINFO_HEADER_OUT: unsafe Lane.at(context)?.recordSentHead(bytes.bytes)
  case CURLINFO_DATA_IN: unsafe Lane.at(context)?.checkRawBody(bytes.bytes)
  default: break
  }
  return 0
}

private func prepareHandshake(
  _ handle: UnsafeMutableRawPointer?,
  _ tls: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CURLcode {
  guard let lane = unsafe Lane.at(context), let tls = unsafe tls else {
    return CURLE_SSL_CONNECT_ERROR
  }
  let isReady = unsafe lane.prepareHandshake(TLSContext(OpaquePointer(tls)))
  return isReady ? CURLE_OK : CURLE_SSL_ENGINE_INITFAILED
}

private func openSocket(
  _ context: UnsafeMutableRawPointer?,
  _ purpose: curlsocktype,
  _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let lane = unsafe Lane.at(context), let address = unsafe address else {
    return CURL_SOCKET_BAD
  }
  return unsafe lane.openSocket(SocketAddress(address))
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> CInt {
  guard let context = unsafe context else { return 1 }
  unsafe Unmanaged<OpenSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
  return 0
}

extension Lane {
  static func at(_ context: UnsafeMutableRawPointer?) -> Lane? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Lane>.fromOpaque(context).takeUnretainedValue()
  }

  static func of(_ handle: UnsafeMutableRawPointer) -> Lane? {
    var context: UnsafeMutableRawPointer?
    unsafe prefetch_curl_getinfo_pointer(handle, CURLINFO_PRIVATE, &context)
    return unsafe Lane.at(context)
  }
}
