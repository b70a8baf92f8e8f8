import Glibc
import PrefetchCore
import Testing

@testable import PrefetchStore

@Suite("Files that are delivered into a folder")
struct DeliveredFolderTests {
  @Test("Delivered files are written a thousand at a time, in the order of their names' bytes")
  func names() throws {
    let temporary = try TemporaryCache()
    let target = temporary.path + "/out"
    let names = ["\u{E9}/a", "e\u{301}/b"] + (0..<1_200).map { "many/\($0 % 7)/\($0)" }
    try temporary.run { store in
      let body = try put("same", into: store)
      let folder = try DeliveredFolder(at: target, of: store, durability: .batch)
      for name in names {
        #expect(try folder.deliver(body.digest, size: body.size, as: name))
      }
      try folder.finish()
    }
    for name in names {
      #expect(FileTree.read("\(target)/\(name)") == Array("same".utf8), "\(name)")
    }
    #expect(FileTree.names(target).count == 3)
    #expect(FileTree.names("\(target)/e\u{301}") == ["b"])
  }

  @Test("A delivered file with the right bytes stays, unless it is the stored body itself")
  func kept() throws {
    let temporary = try TemporaryCache()
    let target = temporary.path + "/out"
    try temporary.run { store in
      let body = try put("kept", into: store)
      let name = body.digest.hexadecimal
      let object = "\(temporary.cache)/objects/sha256/\(name.prefix(2))/\(name)"
      let inode = try #require(FileTree.status(object)).st_ino
      FileTree.makeFolder(target)
      #expect(unsafe link(object, "\(target)/linked") == 0)
      FileTree.write(Array("kept".utf8), to: "\(target)/own")
      FileTree.write(Array("else".utf8), to: "\(target)/other")
      let own = try #require(FileTree.status("\(target)/own")).st_ino
      let folder = try DeliveredFolder(at: target, of: store, durability: .none)
      for name in ["linked", "own", "other"] {
        #expect(try folder.deliver(body.digest, size: body.size, as: name))
      }
      try folder.finish()
      #expect(FileTree.status("\(target)/own")?.st_ino == own)
      #expect(FileTree.status("\(target)/linked")?.st_ino != inode)
      #expect(FileTree.read("\(target)/linked") == Array("kept".utf8))
      #expect(FileTree.read("\(target)/other") == Array("kept".utf8))
    }
  }

  private func put(_ text: String, into store: DiskStore) throws -> StagedBody {
    let body = try store.stage(text)
    var record = ContentRecord(url: "https://a.example/\(text)", id: "")
    (record.state, record.digest, record.size) = (.cached, body.digest, body.size)
    _ = try store.commit([.store(record, body: body, joining: [])])
    return body
  }
}
