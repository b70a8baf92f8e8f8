import Glibc
import PrefetchCore
import PrefetchStore
import Testing

/// Links that were planted in place of a tree.
@Suite("A published tree among planted links")
struct HostileTreeTests {
  private func outside(_ ground: TreeGround) -> String {
    let outside = ground.temporary.path + "/outside"
    FileTree.makeFolder(outside)
    FileTree.write(Array("precious".utf8), to: outside + "/passwd")
    return outside
  }

  @Test("A tree is not written through a link in place of its folder")
  func rootLink() throws {
    let ground = try TreeGround()
    let outside = outside(ground)
    let before = FileTree.listing(outside)
    unsafe symlink(outside, ground.folder)
    let outcome = try ground.publish(["a": "one", "passwd": "two"])
    #expect(outcome.troubles.map(\.failure.code) == [.disk])
    #expect(FileTree.listing(outside) == before)
  }

  @Test(
    "A tree is not written through links inside of it",
    arguments: ["outside", "nowhere", ".."]
  )
  func innerLinks(_ target: String) throws {
    let ground = try TreeGround()
    let outside = outside(ground)
    let before = FileTree.listing(outside)
    FileTree.makeFolder(ground.folder)
    unsafe symlink("../\(target)", ground.folder + "/dir")
    unsafe symlink("../\(target)/passwd", ground.folder + "/leaf")
    let outcome = try ground.publish(["dir/passwd": "one", "leaf": "two", "b": "three"])
    #expect(outcome.troubles.map(\.name) == ["dir/passwd", "leaf"])
    #expect(outcome.troubles.map(\.failure.code) == [.unsafeName, .failed])
    #expect(FileTree.listing(outside) == before)
    #expect(ground.files == ["dir": "a link", "leaf": "a link", "b": "three"])
    #expect(!FileTree.exists(ground.temporary.path + "/nowhere"))
  }

  @Test("A tree stays inside its folder while another process swaps folders for links")
  func swapping() throws {
    let ground = try TreeGround()
    let outside = outside(ground)
    let before = FileTree.listing(outside)
    try ground.publish(["dir/a": "one"])
    try Swapper(folder: ground.folder, outside: outside).run {
      for round in 0..<100 {
        _ = try ground.publish(["dir/a": "one \(round)", "dir/b": "two"], thoroughly: true)
      }
    }
    #expect(FileTree.listing(outside) == before)
  }

  @Test("A tree is not written through a link whose slash hides in a combined letter")
  func hiddenSlash() throws {
    let ground = try TreeGround()
    let outside = outside(ground)
    let before = FileTree.listing(outside)
    FileTree.makeFolder(ground.folder)
    unsafe symlink("../outside", ground.folder + "/dir")
    let outcome = try ground.publish(["dir/\u{301}x": "one", "b/\u{301}y": "two"])
    #expect(outcome.troubles.map(\.failure.code) == [.unsafeName])
    #expect(FileTree.listing(outside) == before)
    #expect(FileTree.names(ground.folder).sorted() == ["b", "dir"])
    #expect(FileTree.names(ground.folder + "/b").map { Array($0.utf8) } == [[0xCC, 0x81, 0x79]])
  }

  @Test("A tree separates names that are equal to Swift and different to the kernel")
  func equivalents() throws {
    let ground = try TreeGround()
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let contents: KeyValuePairs = [
      composed: "one", decomposed: "two", "\(composed)s/a": "three", "\(decomposed)s/b": "four",
    ]
    #expect(try ground.publish(contents).created == 4)
    #expect(FileTree.names(ground.folder).count == 4)
    #expect(FileTree.names("\(ground.folder)/\(composed)s") == ["a"])
    #expect(FileTree.names("\(ground.folder)/\(decomposed)s") == ["b"])
    #expect(try ground.publish(contents, thoroughly: true).created == 0)
    #expect(try ground.publish([:]).removed == 4)
  }

  @Test("A tree separates names that differ in case")
  func twins() throws {
    let ground = try TreeGround()
    #expect(try ground.publish(["Name": "one", "name": "two"]).troubles.isEmpty)
    #expect(ground.files == ["Name": "one", "name": "two"])
  }
}

/// A process that repeatedly swaps a folder for a link.
private struct Swapper {
  let folder: String
  let outside: String

  func run(during body: () throws -> Void) throws {
    let child = start(
      """
      while :; do mv '\(folder)/dir' '\(folder)/away' && ln -s '\(outside)' '\(folder)/dir'; \
      rm '\(folder)/dir'; mv '\(folder)/away' '\(folder)/dir'; done 2>/dev/null
      """
    )
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    try body()
  }

  private func start(_ script: String) -> pid_t {
    var child = pid_t()
    var words: [UnsafeMutablePointer<CChar>?] = unsafe [
      strdup("/bin/sh"), strdup("-c"), strdup(script), nil,
    ]
    defer { for index in unsafe words.indices { unsafe free(words[index]) } }
    unsafe posix_spawn(&child, "/bin/sh", nil, nil, &words, environ)
    return child
  }
}
