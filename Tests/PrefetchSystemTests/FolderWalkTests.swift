import Glibc
import PrefetchSystem
import PrefetchTestSupport
import Testing

/// Files that are written to while a folder is read.
@Suite struct FolderWalkTests {
  private let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    try AtomicFile.write(Array("one".utf8), to: folder.path + "/a")
  }

  private func walk() throws -> FolderWalk {
    try FolderWalk(folder.path) { _, _ in .include }
  }

  /// Reads the only file, applying a change after its bytes are taken; returns the fault.
  private func read(
    _ walk: FolderWalk,
    _ change: (String) -> Void = { _ in }
  ) throws -> FolderWalk.ReadingFault? {
    let file = try #require(walk.files.first)
    do throws(FolderWalk.ReadingFault) {
      try walk.read(file) { _ in
        change(folder.path + "/a")
        return true
      }
      return nil
    } catch {
      return error
    }
  }

  @Test func `An unchanged file is read`() throws {
    #expect(try read(walk()) == nil)
  }

  /// The file has no end, should the reader wait for one.
  @Test func `A file that grows while it is read is of no one state`() throws {
    let fault = try read(walk()) { path in
      let file = unsafe open(path, O_WRONLY | O_APPEND)
      unsafe write(file, "more", 4)
      close(file)
    }
    #expect(fault == .changed)
  }

  @Test func `A file that gets another time while it is read is of no one state`() throws {
    let fault = try read(walk()) { path in
      let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
      unsafe utimensat(AT_FDCWD, path, times, 0)
    }
    #expect(fault == .changed)
  }

  @Test func `A file that was replaced since the walk is of another state`() throws {
    let walk = try walk()
    try AtomicFile.write(Array("two".utf8), to: folder.path + "/a")
    #expect(try read(walk) == .changed)
    unsafe unlink(folder.path + "/a")
    #expect(try read(walk) == .changed)
  }
}
