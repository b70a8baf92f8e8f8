internal import COpenSSL
internal import Glibc

/// A connection of a TLS server, from the handshake to its end.
@safe struct TLSServerConnection: Sendable {
  let descriptor: CInt
  let conduct: TLSServer.Conduct
  let script: @Sendable (String) -> Script
  let stop: Gate
  let state: Guarded<TLSServer.Record>

  func serve(_ context: TLSServerContext?) {
    defer { close(descriptor) }
    blockPipeSignal()
    switch conduct {
    case .tunnel(let port) where context == nil:
      unsafe TLSTunnel(descriptor: descriptor, tls: nil, port: port, stop: stop).serve()
    case .orderly, .untilClose, .cutShort, .tunnel:
      guard let context, let tls = unsafe SSL_new(context.pointer) else { return }
      unsafe SSL_set_fd(tls, descriptor)
      unsafe speak(tls)
      unsafe SSL_free(tls)
    case .raw(let bytes):
      _ = unsafe send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
      drain()
    case .reset:
      guard Descriptors.waitForInput(descriptor, unless: stop) else { return }
      var linger = linger(l_onoff: 1, l_linger: 0)
      let size = socklen_t(MemoryLayout<Glibc.linger>.size)
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, size)
    case .close:
      _ = Descriptors.waitForInput(descriptor, unless: stop)
    case .silence:
      drain()
    }
  }

  /// Blocks SIGPIPE, since OpenSSL writes even after the client has disconnected.
  private func blockPipeSignal() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func drain() {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while Descriptors.waitForInput(descriptor, unless: stop) {
      guard unsafe recv(descriptor, &bytes, bytes.count, 0) > 0 else { return }
    }
  }

  private func speak(_ tls: OpaquePointer) {
    guard unsafe finished(tls, { unsafe SSL_accept(tls) }) > 0 else {
      // Closing with unread input would reset the connection and lose its last bytes.
      shutdown(descriptor, CInt(SHUT_WR))
      return drain()
    }
    let isResumed = unsafe SSL_session_reused(tls) == 1
    state.withLock { record in
      record.handshakes += 1
      if isResumed { record.resumptions += 1 }
    }
    if case .tunnel(let port) = conduct {
      return unsafe TLSTunnel(descriptor: descriptor, tls: tls, port: port, stop: stop).serve()
    }
    if unsafe TLSServerContext.isHTTP2(tls) {
      unsafe speakHTTP2(tls)
    } else {
      while unsafe respondToNext(tls) {}
    }
  }

  private func speakHTTP2(_ tls: OpaquePointer) {
    let channel = StreamConnection.Channel(
      receive: { unsafe receive(tls, isWaiting: $0) },
      send: { unsafe write($0, tls) },
      play: { unsafe play($0, tls) }
    )
    let connection = StreamConnection(channel) { head in
      state.withLock { record in
        record.requests += 1
        record.text += head
      }
      return script(head)
    }
    connection?.serve()
  }

  private func receive(_ tls: OpaquePointer, isWaiting: Bool) -> StreamConnection.Input {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    ERR_clear_error()
    let count =
      isWaiting
      ? unsafe finished(tls) { unsafe SSL_read(tls, &bytes, CInt(bytes.count)) }
      : unsafe SSL_read(tls, &bytes, CInt(bytes.count))
    if count > 0 { return .bytes(Array(bytes.prefix(Int(count)))) }
    let hasNothing = unsafe !isWaiting && SSL_get_error(tls, count) == SSL_ERROR_WANT_READ
    return hasNothing ? .nothing : .end
  }

  private func respondToNext(_ tls: OpaquePointer) -> Bool {
    var request: [UInt8] = []
    while !request.ends(in: "\r\n\r\n") {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe finished(tls, { unsafe SSL_read(tls, &bytes, CInt(bytes.count)) })
      guard count > 0 else { return false }
      state.withLock { $0.bytes += Int(count) }
      request += bytes.prefix(Int(count))
    }
    let hasCertificate = unsafe SSL_get0_peer_certificate(tls) != nil
    let text = String(decoding: request, as: UTF8.self)
    state.withLock { record in
      record.requests += 1
      record.text += text
      if hasCertificate { record.sawClientCertificate = true }
    }
    return unsafe respond(text, tls)
  }

  /// Answers a request; returns whether another one may follow.
  private func respond(_ request: String, _ tls: OpaquePointer) -> Bool {
    switch conduct {
    case .untilClose(let saysSo):
      unsafe write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", tls)
      if saysSo { unsafe SSL_shutdown(tls) }
      return false
    case .cutShort:
      unsafe write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", tls)
      return false
    case .orderly, .tunnel, .raw, .reset, .close, .silence:
      return script(request).steps.allSatisfy { unsafe play($0, tls) }
    }
  }

  /// Plays a step; returns false when the step ends the connection.
  private func play(_ step: Script.Step, _ tls: OpaquePointer) -> Bool {
    switch step {
    case .send(let bytes):
      unsafe write(bytes, tls)
    case .drip(let bytes, let size):
      for start in stride(from: 0, to: bytes.count, by: size) {
        unsafe write(Array(bytes[start..<min(start + size, bytes.count)]), tls)
      }
    case .repeatForever(let bytes):
      while unsafe write(bytes, tls) {}
      return false
    case .pause(let gate):
      return gate.wait(unless: stop)
    case .pauseAtMost(let gate, let duration):
      _ = gate.staysShut(for: duration)
    case .open(let gate):
      gate.open()
    case .wait(let duration):
      return stop.staysShut(for: duration)
    case .silence:
      drain()
      return false
    case .close, .reset:
      return false
    }
    return true
  }

  private func write(_ text: String, _ tls: OpaquePointer) {
    unsafe write(Array(text.utf8), tls)
  }

  @discardableResult
  private func write(_ bytes: [UInt8], _ tls: OpaquePointer) -> Bool {
    unsafe finished(tls) { unsafe SSL_write(tls, bytes, CInt(bytes.count)) } > 0
  }

  /// Repeats an operation, waiting for the socket as often as OpenSSL asks to.
  private func finished(_ tls: OpaquePointer, _ step: () -> CInt) -> CInt {
    while true {
      ERR_clear_error()
      let result = step()
      guard result <= 0 else { return result }
      let isReady =
        switch unsafe SSL_get_error(tls, result) {
        case SSL_ERROR_WANT_READ: Descriptors.waitForInput(descriptor, unless: stop)
        case SSL_ERROR_WANT_WRITE: Descriptors.waitForOutput(descriptor, unless: stop)
        default: false
        }
      guard isReady else { return -1 }
    }
  }
}

extension [UInt8] {
  fileprivate func ends(in text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
