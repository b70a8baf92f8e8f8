@unsafe @preconcurrency internal import Glibc

/// Decodes the header blocks of HTTP/2 requests with the library that libcurl uses for them.
@safe final class HeaderInflater {
  private typealias Create = @convention(c) (UnsafeMutablePointer<OpaquePointer?>) -> CInt
  private typealias Delete = @convention(c) (OpaquePointer?) -> Void
  private typealias Finish = @convention(c) (OpaquePointer?) -> CInt
  private typealias Inflate =
    @convention(c) (
      OpaquePointer?, UnsafeMutableRawPointer, UnsafeMutablePointer<CInt>, UnsafePointer<UInt8>?,
      Int, CInt
    ) -> Int

  /// Functions of the library as addresses.
  private struct Library: Sendable {
    let create: UInt
    let delete: UInt
    let finish: UInt
    let inflate: UInt

    init?() {
      guard let library = unsafe dlopen("libnghttp2.so.14", RTLD_NOW | RTLD_LOCAL) else {
        return nil
      }
      func address(_ name: String) -> UInt? {
        unsafe dlsym(library, "nghttp2_hd_inflate_\(name)").map { UInt(bitPattern: $0) }
      }
      guard let create = address("new"), let delete = address("del"),
        let finish = address("end_headers"), let inflate = address("hd2")
      else { return nil }
      (self.create, self.delete, self.finish, self.inflate) = (create, delete, finish, inflate)
    }
  }

  private static let library = Library()
  /// Whether this machine can decode header blocks.
  static let isPossible = library != nil

  private static let hasField: CInt = 2
  private static let isFinal: CInt = 1

  private let library: Library
  private let inflater: UInt

  init?() {
    guard let library = Self.library else { return nil }
    let create = unsafe Self.function(library.create, as: Create.self)
    var inflater: OpaquePointer?
    guard unsafe create(&inflater) == 0, let inflater = unsafe inflater else { return nil }
    self.library = library
    self.inflater = UInt(bitPattern: inflater)
  }

  deinit {
    unsafe Self.function(library.delete, as: Delete.self)(pointer)
  }

  private var pointer: OpaquePointer? {
    unsafe OpaquePointer(bitPattern: inflater)
  }

  private static func function<Function>(_ address: UInt, as type: Function.Type) -> Function {
    unsafe unsafeBitCast(address, to: type)
  }

  /// Returns the fields of a whole block; nil for a block that no table explains.
  func fields(of block: [UInt8]) -> [(name: String, value: String)]? {
    let inflate = unsafe Self.function(library.inflate, as: Inflate.self)
    let finish = unsafe Self.function(library.finish, as: Finish.self)
    var fields: [(name: String, value: String)] = []
    var rest = block[...]
    while true {
      // Two addresses, two lengths and a byte of flags, as the library lays them out.
      var field: (UInt, UInt, Int, Int, UInt) = (0, 0, 0, 0, 0)
      var flags: CInt = 0
      let count = unsafe rest.withUnsafeBufferPointer { input in
        unsafe withUnsafeMutableBytes(of: &field) { output in
          guard let start = output.baseAddress else { return -1 }
          return unsafe inflate(pointer, start, &flags, input.baseAddress, input.count, 1)
        }
      }
      guard count >= 0 else { return nil }
      rest = rest.dropFirst(count)
      if flags & Self.hasField != 0 {
        fields.append((Self.text(field.0, field.2), Self.text(field.1, field.3)))
      }
      if flags & Self.isFinal != 0 {
        _ = unsafe finish(pointer)
        return fields
      }
      guard !rest.isEmpty || flags & Self.hasField != 0 else { return nil }
    }
  }

  private static func text(_ address: UInt, _ count: Int) -> String {
    let bytes = unsafe UnsafeRawBufferPointer(
      start: UnsafeRawPointer(bitPattern: address),
      count: count
    )
    return unsafe String(decoding: bytes, as: UTF8.self)
  }
}
