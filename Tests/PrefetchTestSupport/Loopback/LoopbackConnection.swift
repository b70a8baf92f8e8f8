internal import Glibc
internal import PrefetchCore

/// An accepted connection: reads requests and plays scripts.
final class LoopbackConnection {
  private enum ConnectionEnd: Error {
    case disconnected
  }

  private let descriptor: CInt
  private let number: Int
  private let stop: Gate
  /// Receives the number of bytes of every write.
  private let sent: (Int) -> Void
  private let willClose: () -> Void
  private var unread: [UInt8] = []
  private var isClosed = false

  init(
    descriptor: CInt,
    number: Int,
    stop: Gate,
    sent: @escaping (Int) -> Void,
    willClose: @escaping () -> Void
  ) {
    self.descriptor = descriptor
    self.number = number
    self.stop = stop
    self.sent = sent
    self.willClose = willClose
  }

  deinit {
    if !isClosed {
      willClose()
      close(descriptor)
    }
  }

  /// Serves until one side closes the connection or the server stops.
  ///
  /// `finished` is called before the last step: a client that has the last bytes may send its next
  /// request before this thread runs again.
  func serve(
    _ greeting: Script,
    _ respond: (LoopbackRequest) -> Script,
    finished: () -> Void
  ) {
    do throws(ConnectionEnd) {
      try play(greeting)
      while !isClosed {
        let request = try readRequest()
        let script = respond(request)
        do {
          defer { finished() }
          try play(Script(script.steps.dropLast()))
        }
        try play(Script(script.steps.suffix(1)))
      }
    } catch {
      return
    }
  }

  // MARK: Scripts

  private func play(_ script: Script) throws(ConnectionEnd) {
    for step in script.steps where !isClosed {
      try play(step)
    }
  }

  private func play(_ step: Script.Step) throws(ConnectionEnd) {
    switch step {
    case .send(let bytes):
      try write(bytes)
    case .drip(let bytes, let size):
      for start in stride(from: 0, to: bytes.count, by: size) {
        try write(Array(bytes[start..<min(start + size, bytes.count)]))
      }
    case .repeatForever(let bytes):
      while true {
        try write(bytes)
      }
    case .pause(let gate):
      guard gate.wait(unless: stop) else { throw .disconnected }
    case .pauseAtMost(let gate, let duration):
      _ = gate.staysShut(for: duration)
    case .open(let gate):
      gate.open()
    case .wait(let duration):
      guard stop.staysShut(for: duration) else { throw .disconnected }
    case .silence:
      while true {
        try readMore()
      }
    case .close:
      end(isReset: false)
    case .reset:
      end(isReset: true)
    }
  }

  private func end(isReset: Bool) {
    willClose()
    if isReset {
      var option = linger(l_onoff: 1, l_linger: 0)
      let size = socklen_t(MemoryLayout<linger>.size)
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, size)
    } else {
      // A program that was started at the wrong moment may have inherited the descriptor.
      shutdown(descriptor, CInt(SHUT_RDWR))
    }
    close(descriptor)
    isClosed = true
  }

  private func write(_ bytes: [UInt8]) throws(ConnectionEnd) {
    var offset = 0
    while offset < bytes.count {
      guard Descriptors.waitForOutput(descriptor, unless: stop) else { throw .disconnected }
      let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[offset...])
        return unsafe send(descriptor, rest.baseAddress, rest.count, flags)
      }
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 else { throw .disconnected }
      sent(count)
      offset += count
    }
  }

  // MARK: Requests

  private func readRequest() throws(ConnectionEnd) -> LoopbackRequest {
    let head = try readHead()
    let lines = HeaderText.decode(head[...]).split(separator: "\r\n").map { String($0) }
    let words = (lines.first ?? "").split(separator: " ")
    var request = LoopbackRequest(
      method: words.first.map { String($0) } ?? "",
      target: words.dropFirst().first.map { String($0) } ?? "",
      head: head,
      connection: number
    )
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      request.headers.append(HeaderField(String(line[..<colon]), String(value)))
    }
    let length = request.headers["Content-Length"].flatMap { Int($0) } ?? 0
    while unread.count < length {
      try readMore()
    }
    request.body = Array(unread.prefix(length))
    unread.removeFirst(length)
    return request
  }

  private func readHead() throws(ConnectionEnd) -> [UInt8] {
    let end = Array("\r\n\r\n".utf8)
    var searched = 0
    while true {
      while searched + end.count <= unread.count {
        if unread[searched..<searched + end.count].elementsEqual(end) {
          let head = Array(unread[..<searched])
          unread.removeFirst(searched + end.count)
          return head
        }
        searched += 1
      }
      try readMore()
    }
  }

  private func readMore() throws(ConnectionEnd) {
    guard Descriptors.waitForInput(descriptor, unless: stop) else { throw .disconnected }
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw .disconnected }
    unread += buffer[..<count]
  }
}
