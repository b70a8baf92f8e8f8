internal import Glibc
internal import PrefetchCore

/// A listening socket, closed unless a server takes it over.
struct ListeningSocket: ~Copyable {
  private var descriptor: Int32
  let address: ListenAddress

  init(_ address: ListenAddress) throws(Failure) {
    let family = address.isIPv6 ? AF_INET6 : AF_INET
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw Self.fault(address) }
    let bound: ListenAddress
    do throws(Failure) {
      try Self.listen(descriptor, on: address)
      bound = try Self.boundAddress(descriptor)
    } catch {
      close(descriptor)
      throw error
    }
    self.address = bound
    self.descriptor = descriptor
  }

  init(inherited descriptor: Int32) throws(Failure) {
    let bound = try Self.boundAddress(descriptor)
    var isListening: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
    guard isListening != 0 else {
      throw Failure(.failed, "descriptor \(descriptor) is not a socket that listens")
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
    address = bound
    self.descriptor = descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  consuming func release() -> Int32 {
    let number = descriptor
    descriptor = -1
    return number
  }

  private static func listen(
    _ descriptor: Int32,
    on address: ListenAddress
  ) throws(Failure) {
    var yes: Int32 = 1
    unsafe setsockopt(
      descriptor,
      SOL_SOCKET,
      SO_REUSEADDR,
      &yes,
      socklen_t(MemoryLayout<Int32>.size)
    )
    var storage = sockaddr_storage()
    let length = unsafe withUnsafeMutableBytes(of: &storage) { unsafe fill($0, with: address) }
    let isListening = unsafe withUnsafePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length) == 0 && Glibc.listen(descriptor, 128) == 0
      }
    }
    guard isListening else { throw fault(address) }
  }

  private static func fill(
    _ bytes: UnsafeMutableRawBufferPointer,
    with address: ListenAddress
  ) -> socklen_t {
    let port = address.port.bigEndian
    if address.isIPv6 {
      var native = sockaddr_in6()
      native.sin6_family = sa_family_t(AF_INET6)
      native.sin6_port = port
      unsafe withUnsafeMutableBytes(of: &native.sin6_addr) {
        unsafe $0.copyBytes(from: address.addressBytes)
      }
      unsafe bytes.storeBytes(of: native, as: sockaddr_in6.self)
      return socklen_t(MemoryLayout<sockaddr_in6>.size)
    }
    var native = sockaddr_in()
    native.sin_family = sa_family_t(AF_INET)
    native.sin_port = port
    unsafe withUnsafeMutableBytes(of: &native.sin_addr) {
      unsafe $0.copyBytes(from: address.addressBytes)
    }
    unsafe bytes.storeBytes(of: native, as: sockaddr_in.self)
    return socklen_t(MemoryLayout<sockaddr_in>.size)
  }

  private static func boundAddress(_ descriptor: Int32) throws(Failure) -> ListenAddress {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    guard status == 0 else {
      throw Failure(errno: errno, "descriptor \(descriptor) is not a socket")
    }
    return try unsafe withUnsafeBytes(of: storage) { bytes throws(Failure) in
      let range: Range<Int>
      switch Int32(storage.ss_family) {
      case AF_INET: range = 4..<8
      case AF_INET6: range = 8..<24
      default:
        throw Failure(.failed, "descriptor \(descriptor) is not a socket of IPv4 or IPv6")
      }
      // The port is at the same offset in both families.
      let port = UInt16(bigEndian: unsafe bytes.load(fromByteOffset: 2, as: UInt16.self))
      let address = unsafe Array(bytes[range])
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      unsafe inet_ntop(Int32(storage.ss_family), address, &text, socklen_t(text.count))
      let host = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      return ListenAddress(host: String(decoding: host, as: UTF8.self), bytes: address, port: port)
    }
  }

  private static func fault(_ address: ListenAddress) -> Failure {
    Failure(errno: errno, "cannot listen on `\(address.authority)`")
  }
}
