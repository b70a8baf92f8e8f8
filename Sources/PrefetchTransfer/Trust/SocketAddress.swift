internal import CCurl
internal import Glibc
internal import PrefetchCore

struct SocketAddress {
  private let family: CInt
  private let kind: CInt
  private let protocolNumber: CInt
  let text: String?

  init(_ pointer: UnsafePointer<curl_sockaddr>) {
    let value = unsafe pointer.pointee
    family = value.family
    kind = value.socktype
    protocolNumber = value.protocol
    let size = Int(value.addrlen)
    // libcurl's structure is longer than its declaration: a whole address follows.
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr), size > 0 else {
      text = nil
      return
    }
    let bytes = unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(pointer) + offset,
      count: size
    )
    text = unsafe Self.text(family, bytes)
  }

  func makeSocket() -> CInt {
    socket(family, kind | CInt(SOCK_CLOEXEC.rawValue), protocolNumber)
  }

  private static func text(_ family: CInt, _ bytes: UnsafeRawBufferPointer) -> String? {
    // Skips family and port, and the flow of IPv6.
    let start =
      switch family {
      case AF_INET: 4
      case AF_INET6: 8
      default: bytes.count
      }
    guard bytes.count >= start + (family == AF_INET ? 4 : 16) else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let source = unsafe bytes.baseAddress.map { unsafe $0 + start }
    guard unsafe inet_ntop(family, source, &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func localPort(of descriptor: CInt) -> Int? {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &size)
      }
    }
    guard status == 0, [AF_INET, AF_INET6].contains(CInt(address.ss_family)) else { return nil }
    // The port is at the same offset in both families.
    return unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe Int(bytes[2]) << 8 | Int(bytes[3])
    }
  }
}

extension ConnectionRules.Reach {
  func objection(to address: SocketAddress, of host: String) -> Failure? {
    let isLocal = address.text.flatMap { IPAddress($0) }?.isLocal
    let shown = address.text ?? "an unknown address"
    switch self {
    case .anywhere:
      return nil
    case .publicOnly:
      guard isLocal != false else { return nil }
      return Failure(
        .addressForbidden,
        "`\(host)` has \(shown), an address of a local network; only hosts that "
          + "the configuration names may have one"
      )
    case .localOnly:
      guard isLocal != true else { return nil }
      return Failure(
        .transportSecurity,
        "`\(host)` has \(shown), which is not on this network; plain http is allowed "
          + "only there"
      )
    }
  }
}
