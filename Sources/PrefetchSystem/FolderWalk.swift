internal import Glibc

/// Lists the files of a folder tree by names of any bytes.
///
/// Links to files inside count as files; others are omitted, so nothing outside is published.
package struct FolderWalk {
  package struct File: Hashable, Sendable {
    /// Path relative to the folder, without a leading slash.
    package var path: [UInt8]
    package var size: Int64
    package var modified: Time
    package var identity: Identity
  }

  package struct Time: Hashable, Comparable, Sendable {
    package var seconds: Int64
    package var nanoseconds: Int64

    package static func < (a: Self, b: Self) -> Bool {
      (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }
  }

  /// Identity that hard links share.
  package struct Identity: Hashable, Sendable {
    package var device: UInt64
    package var number: UInt64
  }

  package enum Omission: Hashable, Sendable {
    case leadsOutside
    case linkToFolder
    case dangling
    case special
  }

  package enum Verdict: Sendable {
    case include
    case exclude
  }

  package private(set) var files: [File] = []
  package private(set) var omitted: [(path: [UInt8], reason: Omission)] = []
  package private(set) var unreadable: [(path: [UInt8], reason: String)] = []

  private let root: [UInt8]
  private let realRoot: [UInt8]
  private let wants: (_ path: [UInt8], _ isFolder: Bool) -> Verdict

  package init(
    _ folder: String,
    wants: @escaping (_ path: [UInt8], _ isFolder: Bool) -> Verdict
  ) throws(FileReading.Fault) {
    guard let real = FileReading.realPath(folder) else { throw .missing }
    guard FileReading.isFolder(real) else { throw .unreadable(reason: "it is not a folder") }
    root = Array(folder.utf8)
    realRoot = Array(real.utf8)
    self.wants = wants
    var pending: [[UInt8]] = [[]]
    // A list instead of recursion, since a tree may be deeper than the stack.
    while let path = pending.popLast() {
      look(through: path, &pending)
    }
    files.sort { $0.path.lexicographicallyPrecedes($1.path) }
    omitted.sort { $0.path.lexicographicallyPrecedes($1.path) }
    unreadable.sort { $0.path.lexicographicallyPrecedes($1.path) }
  }

  private mutating func look(through folder: [UInt8], _ pending: inout [[UInt8]]) {
    let names: [[UInt8]]
    do throws(SystemFault) {
      names = try RawPath(root, folder).folderNames()
    } catch {
      unreadable.append((folder, error.reason))
      return
    }
    for name in names {
      let path = folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
      do throws(SystemFault) {
        try look(at: path, &pending)
      } catch {
        unreadable.append((path, error.reason))
      }
    }
  }

  private mutating func look(
    at path: [UInt8],
    _ pending: inout [[UInt8]]
  ) throws(SystemFault) {
    let rawPath = RawPath(root, path)
    var status = try rawPath.status(followsLinks: false)
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    guard case .include = wants(path, isFolder) else { return }
    if isFolder {
      pending.append(path)
      return
    }
    if status.st_mode & S_IFMT == S_IFLNK {
      guard let target = rawPath.realPath() else {
        omitted.append((path, .dangling))
        return
      }
      guard target.starts(with: realRoot + [UInt8(ascii: "/")]) || realRoot == [0x2F] else {
        omitted.append((path, .leadsOutside))
        return
      }
      status = try rawPath.status(followsLinks: true)
      if status.st_mode & S_IFMT == S_IFDIR {
        omitted.append((path, .linkToFolder))
        return
      }
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      omitted.append((path, .special))
      return
    }
    files.append(File(path: path, status))
  }
}

extension FolderWalk.File {
  fileprivate init(path: [UInt8], _ status: stat) {
    self.init(
      path: path,
      size: Int64(status.st_size),
      modified: FolderWalk.Time(
        seconds: Int64(status.st_mtim.tv_sec),
        nanoseconds: Int64(status.st_mtim.tv_nsec)
      ),
      identity: FolderWalk.Identity(
        device: UInt64(status.st_dev),
        number: UInt64(status.st_ino)
      )
    )
  }
}

extension FolderWalk {
  package static func identity(ofDescriptor number: Int32) -> Identity? {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return File(path: [], status).identity
  }

  package static func identity(ofFile path: String) -> Identity? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return File(path: [], status).identity
  }

  package enum ReadingFault: Error, Hashable, Sendable {
    case unreadable(reason: String)
    /// The file was changed or replaced after the walk or during the read.
    case changed
  }

  /// Passes a file's bytes on while `sink` returns true; throws unless the file stayed unchanged.
  package func read(_ file: File, _ sink: (RawSpan) -> Bool) throws(ReadingFault) {
    let descriptor: FileDescriptor
    do throws(SystemFault) {
      descriptor = try RawPath(root, file.path).open()
    } catch {
      throw error.number == ENOENT ? .changed : .unreadable(reason: error.reason)
    }
    do throws(SystemFault) {
      guard File(path: file.path, try descriptor.status()) == file else { throw .stale }
      let count = try descriptor.readChunks(upTo: file.size, sink)
      guard count == file.size, File(path: file.path, try descriptor.status()) == file else {
        throw .stale
      }
    } catch {
      throw error.number == ESTALE ? .changed : .unreadable(reason: error.reason)
    }
  }
}

extension SystemFault {
  fileprivate static var stale: Self {
    Self(number: ESTALE)
  }
}

private struct RawPath {
  private let bytes: [CChar]

  init(_ root: [UInt8], _ path: [UInt8]) {
    let whole = path.isEmpty ? root : root + [UInt8(ascii: "/")] + path
    bytes = whole.map { CChar(bitPattern: $0) } + [0]
  }

  func status(followsLinks: Bool) throws(SystemFault) -> stat {
    var status = stat()
    let outcome = unsafe followsLinks ? stat(bytes, &status) : lstat(bytes, &status)
    guard outcome == 0 else { throw .last }
    return status
  }

  func realPath() -> [UInt8]? {
    guard let resolved = unsafe realpath(bytes, nil) else { return nil }
    defer { unsafe free(resolved) }
    let count = unsafe strlen(resolved)
    return unsafe UnsafeRawBufferPointer(start: resolved, count: count).map { $0 }
  }

  /// Opens the file without waiting for a writer, so that a pipe is noticed instead of read.
  func open() throws(SystemFault) -> FileDescriptor {
    var number: Int32
    repeat {
      number = unsafe Glibc.open(bytes, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    } while number < 0 && errno == EINTR
    guard number >= 0 else { throw .last }
    return FileDescriptor(number: number)
  }

  func folderNames() throws(SystemFault) -> [[UInt8]] {
    guard let folder = unsafe opendir(bytes) else { throw .last }
    defer { unsafe closedir(folder) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(folder) else { break }
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { buffer in
        unsafe Array(buffer.prefix { $0 != 0 })
      }
      if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
    }
    guard errno == 0 else { throw .last }
    return names
  }
}

extension FileDescriptor {
  /// Returns the number of bytes, at most one piece above `size`; -1 when `sink` stopped the read.
  fileprivate func readChunks(
    upTo size: Int64,
    _ sink: (RawSpan) -> Bool
  ) throws(SystemFault) -> Int64 {
    var chunk = [UInt8](repeating: 0, count: 256 * 1024)
    var total: Int64 = 0
    // Another process may append faster than this loop reads.
    while total <= size {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(number, $0.baseAddress, $0.count)
      }
      if count == 0 { return total }
      if count < 0 {
        guard errno == EINTR else { throw .last }
        continue
      }
      total += Int64(count)
      guard unsafe sink(chunk.span.bytes.extracting(first: count)) else { return -1 }
    }
    return total
  }
}
