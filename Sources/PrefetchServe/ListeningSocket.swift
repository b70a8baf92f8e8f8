internal import Glibc
internal import PrefetchCore

/// A bound and listening socket, closed unless a server takes it over.
struct ListeningSocket: ~Copyable {
  private let descriptor: Int32
  let port: UInt16

  init(_ address: ListenAddress) throws(Failure) {
    let family = address.isIPv6 ? AF_INET6 : AF_INET
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw Self.fault(address) }
    do throws(Failure) {
      port = try Self.listen(descriptor, on: address)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  consuming func release() -> Int32 {
    let number = descriptor
    discard self
    return number
  }

  private static func listen(
    _ descriptor: Int32,
    on address: ListenAddress
  ) throws(Failure) -> UInt16 {
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
    return try boundPort(descriptor, address)
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

  private static func boundPort(
    _ descriptor: Int32,
    _ address: ListenAddress
  ) throws(Failure) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    guard status == 0 else { throw fault(address) }
    // The port stands at the same place in both families.
    return unsafe withUnsafeBytes(of: storage) {
      UInt16(bigEndian: unsafe $0.load(fromByteOffset: 2, as: UInt16.self))
    }
  }

  private static func fault(_ address: ListenAddress) -> Failure {
    Failure(errno: errno, "cannot listen on `\(address.authority)`")
  }
}
