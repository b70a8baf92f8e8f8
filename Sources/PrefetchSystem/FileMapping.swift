internal import Glibc

@safe struct FileMapping: ~Copyable {
  private let bytes: UnsafeRawBufferPointer

  init(_ descriptor: borrowing FileDescriptor, size: Int) throws(SystemFault) {
    let address = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor.number, 0)
    guard let address = unsafe address, unsafe address != MAP_FAILED else { throw .last }
    unsafe bytes = UnsafeRawBufferPointer(start: address, count: size)
  }

  deinit {
    unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
  }

  borrowing func withBytes<Value>(_ read: (RawSpan) -> Value) -> Value {
    unsafe read(bytes.bytes)
  }
}
