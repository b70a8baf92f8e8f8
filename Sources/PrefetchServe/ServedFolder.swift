internal import CMicroHTTPD
internal import Glibc
internal import PrefetchCore

/// A folder that no path or symbolic link can leave.
struct ServedFolder: ~Copyable, Sendable {
  private let descriptor: Int32

  init(_ path: String) throws(Failure) {
    descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(errno: errno, "cannot serve the folder `\(path)`") }
  }

  deinit {
    close(descriptor)
  }

  func open(_ path: String) -> ServedFile? {
    var number = unsafe prefetch_open_beneath(descriptor, path, Self.flags)
    if number < 0, errno == ENOSYS || errno == EPERM { number = openByName(path) }
    return number < 0 ? nil : ServedFile(adopting: number)
  }

  /// Opens a file name by name, without following links, where openat2 is missing.
  private func openByName(_ path: String) -> Int32 {
    var current = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    let names = PathText.components(of: path)
    for (offset, name) in names.enumerated() where current >= 0 {
      let isLast = offset == names.count - 1
      let flags = isLast ? Self.flags : O_RDONLY | O_DIRECTORY | O_CLOEXEC
      let next = unsafe openat(current, String(name), flags | O_NOFOLLOW)
      close(current)
      current = next
    }
    return current
  }

  /// `O_NONBLOCK`: a FIFO in the folder must not block the server.
  private static let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
}

struct ServedFile: ~Copyable {
  let version: ServedVersion
  private var descriptor: Int32

  fileprivate init?(adopting descriptor: Int32) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    let seconds = Int64(status.st_mtim.tv_sec)
    let nanoseconds = seconds &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    let parts = [UInt64(bitPattern: nanoseconds), UInt64(status.st_size), UInt64(status.st_ino)]
    version = ServedVersion(
      etag: "\"" + parts.map { String($0, radix: 16) }.joined(separator: "-") + "\"",
      modified: Instant(seconds: seconds),
      size: Int64(status.st_size)
    )
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  consuming func release() -> Int32 {
    let number = descriptor
    descriptor = -1
    return number
  }
}

extension Failure {
  init(errno number: Int32, _ what: String) {
    let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    let code: ErrorCode = number == EACCES || number == EPERM ? .permission : .disk
    self.init(code, "\(what): \(reason)")
  }
}
