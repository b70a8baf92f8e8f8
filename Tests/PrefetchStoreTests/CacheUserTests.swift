import Glibc
import PrefetchTestSupport
import Testing

@testable import PrefetchStore

@Suite("Names of the processes that use a cache")
struct CacheUserTests {
  @Test("Only a process that holds its file is named: its number may be another process's by now")
  func reusedNumber() throws {
    let place = try TemporaryDirectory()
    let folder = try #require(try Folder(at: place.path))
    FileTree.write(Array("1000 run\n".utf8), to: "\(place.path)/1")
    #expect(CacheUser.others(in: folder).isEmpty)
    let file = try folder.open("1", O_RDONLY)
    try #require(flock(file.number, LOCK_EX | LOCK_NB) == 0)
    #expect(CacheUser.others(in: folder).map(\.process) == [1])
    try file.close()
    #expect(CacheUser.others(in: folder).isEmpty)
  }
}
