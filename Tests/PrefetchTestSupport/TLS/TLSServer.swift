internal import COpenSSL
internal import Glibc
package import PrefetchCore

/// A TLS server on 127.0.0.1 that can misbehave, and counts what it could decrypt.
///
/// On release it breaks every connection and joins every thread.
package final class TLSServer: Sendable {
  package struct Options: Sendable {
    /// Certificates that the server sends, its own first.
    package var chain: [TestCertificate]
    /// Accepted versions, both ends included.
    package var versions: ClosedRange<Version> = .tls10 ... .tls13
    /// Cipher list for TLS 1.2 and older, in OpenSSL's syntax.
    package var ciphers = "DEFAULT"
    package var groups: String?
    /// Authority whose client certificates the server requests.
    package var clientAuthority: TestCertificate?
    package var requiresClientCertificate = false
    /// Whether an orderly server speaks HTTP/2 with clients that know it.
    package var speaksHTTP2 = false
    package var conduct = Conduct.orderly
    /// Script of an orderly server by the request's head; each piece is a TLS record.
    package var script: @Sendable (String) -> Script = { _ in .respond(200, text: "hello") }

    package init(_ chain: TestCertificate...) {
      self.chain = chain
    }

    package init(_ conduct: Conduct) {
      chain = []
      self.conduct = conduct
    }
  }

  package enum Version: CInt, Comparable, Sendable {
    case tls10 = 0x301
    case tls11 = 0x302
    case tls12 = 0x303
    case tls13 = 0x304

    package static func < (a: Self, b: Self) -> Bool {
      a.rawValue < b.rawValue
    }
  }

  package enum Conduct: Sendable {
    case orderly
    /// Ends a response without length by closing the connection, with or without TLS's
    /// close_notify.
    case untilClose(saysSo: Bool)
    /// Announces a length and breaks off before the end.
    case cutShort
    /// A proxy that accepts `CONNECT` to a port of this machine, or always connects to one port.
    case tunnel(to: Int? = nil)
    /// Sends these bytes in place of a handshake.
    case raw([UInt8])
    /// Breaks the connection after the first bytes from the client.
    case reset
    case close
    case silence
  }

  /// Observations of the server.
  package struct Record: Hashable, Sendable {
    package var connections = 0
    /// Number of connections that have ended.
    package var ends = 0
    package var handshakes = 0
    package var resumptions = 0
    /// Number of decrypted request bytes.
    package var bytes = 0
    package var requests = 0
    /// Whether any client sent a certificate.
    package var sawClientCertificate = false
    /// Text of the requests.
    package var text = ""
  }

  /// Whether servers can read requests of HTTP/2 on this machine.
  package static let canSpeakHTTP2 = HeaderInflater.isPossible

  package let port: Int
  private let context: TLSServerContext?
  private let listener: CInt
  private let stop = Gate()
  private let state: Guarded<Record>
  private let acceptor: NativeThread

  package init(_ options: Options) throws {
    context = options.chain.isEmpty ? nil : try TLSServerContext(options)
    (listener, port) = try Self.listen()
    let state = Guarded(Record())
    self.state = state
    let (conduct, script) = (options.conduct, options.script)
    let thread = NativeThread { [listener, stop, context] in
      var threads: [NativeThread] = []
      while Descriptors.waitForInput(listener, unless: stop) {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { continue }
        Descriptors.closeOnExecution(descriptor)
        Descriptors.sendAtOnce(descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        state.withLock { $0.connections += 1 }
        let connection = TLSServerConnection(
          descriptor: descriptor,
          conduct: conduct,
          script: script,
          stop: stop,
          state: state
        )
        let serve = { @Sendable in
          connection.serve(context)
          state.withLock { $0.ends += 1 }
        }
        guard let thread = NativeThread(serve) else { continue }
        threads.append(thread)
      }
      for thread in threads { thread.join() }
    }
    guard let thread else {
      close(listener)
      throw TestKey.Fault(what: "no thread left")
    }
    acceptor = thread
  }

  deinit {
    stop.open()
    acceptor.join()
    close(listener)
  }

  package var record: Record {
    state.withLock { $0 }
  }

  /// Observations after all connections have ended, for clients that have disconnected.
  package var finalRecord: Record {
    let deadline = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < deadline {
      let record = record
      if record.connections > 0, record.ends == record.connections { return record }
      usleep(1_000)
    }
    return record
  }

  package var requestText: String {
    record.text
  }

  /// Returns the URL of a path at the server's address or another name of this machine.
  package func url(_ path: String = "/", host: String = "127.0.0.1") throws -> WebURL {
    try WebURL("https://\(host):\(port)\(path)")
  }

  private static func listen() throws -> (CInt, Int) {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> CInt in
        guard unsafe bind(descriptor, generic, size) == 0 else { return -1 }
        guard Glibc.listen(descriptor, 256) == 0 else { return -1 }
        return unsafe getsockname(descriptor, generic, &size)
      }
    }
    guard status == 0 else { throw TestKey.Fault(what: "no port left") }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }
}
