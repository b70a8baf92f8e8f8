import Glibc
import PrefetchCore
import PrefetchStore
import Testing

/// A tree that other processes change, lock or share while it is published.
@Suite("A published tree with other writers")
struct SharedTreeTests {
  @Test("A file that changes during publishing is left")
  func changedMeanwhile() throws {
    var ground = try TreeGround()
    ground.rules.link = .copy
    try ground.publish(["a": "one", "b": "two"])
    let path = ground.folder + "/a"
    var calls = 0
    let busy = try ground.reopened {
      calls += 1
      // The change comes after the first file is written and before it is renamed.
      if FileTree.read(path) == Array("one".utf8), calls > 2 {
        FileTree.write(Array("mine".utf8), to: path)
      }
      return false
    }
    let outcome = try busy.publish(["a": "newer", "b": "newest"])
    #expect(outcome.troubles.map(\.name) == ["a"])
    #expect(ground.files == ["a": "mine", "b": "newest"])
  }

  @Test("Publishing stops on request after any number of steps and continues later")
  func cancelled() throws {
    let contents: KeyValuePairs = ["a": "one", "b/c": "two", "d": "three"]
    var isStopped = true
    var limit = 0
    while isStopped {
      var ground = try TreeGround()
      ground.rules.link = .copy
      var steps = 0
      let stopping = try ground.reopened {
        steps += 1
        return steps > limit
      }
      let outcome = try stopping.publish(contents)
      isStopped = !outcome.troubles.isEmpty
      #expect(outcome.troubles.allSatisfy { $0.failure.code == .cancelled })
      #expect(ground.files.keys.allSatisfy { ["a", "b/", "b/c", "d"].contains($0) })
      #expect(try ground.publish(contents).troubles.isEmpty)
      #expect(ground.files == ["a": "one", "b/c": "two", "d": "three"])
      limit += 1
    }
    #expect(limit > 3)
  }

  @Test("A shared tree keeps a file while another segment has it", arguments: [true, false])
  func shared(_ isLinked: Bool) throws {
    var ground = try TreeGround()
    ground.rules.link = isLinked ? .hardlink : .copy
    let other = ground.other("other")
    try ground.publish(["x": "one", "a": "mine"])
    #expect(try other.publish(["x": "one"]).troubles.isEmpty)
    try ground.publish(["a": "mine"])
    #expect(ground.files == ["x": "one", "a": "mine"])
    try other.publish([:])
    #expect(ground.files == ["a": "mine"])
  }

  @Test("A shared tree names the segment that publishes another body under a name")
  func disputed() throws {
    var ground = try TreeGround()
    ground.rules.link = .copy
    let other = ground.other("other")
    try ground.publish(["x": "one"])
    try other.publish(["x": "one"])
    try ground.publish(["x": "two"])
    #expect(ground.files == ["x": "two"])
    #expect(try other.trees.existingTree(of: other.key, other.rules) == nil)
    let disputed = try other.publish(["x": "one"])
    #expect(disputed.troubles.map(\.failure.code) == [.failed])
    #expect(disputed.troubles.first?.failure.message.contains("segment `s`") == true)
    #expect(try other.publish(["x": "two"]).troubles.isEmpty)
  }

  @Test("A shared tree keeps files of a tree inside of it")
  func nested() throws {
    var ground = try TreeGround()
    ground.rules.link = .copy
    var inner = ground.other("inner")
    inner.rules.folder = ground.folder + "/sub"
    try inner.publish(["x": "one"])
    #expect(try ground.publish(["sub/x": "one", "y": "two"]).troubles.isEmpty)
    try inner.publish([:])
    #expect(ground.files == ["sub/x": "one", "y": "two"])
    try inner.publish(["x": "one"])
    try ground.publish([:])
    #expect(ground.files == ["sub/x": "one"])
  }

  @Test("A segment takes over the files of one that is no longer declared")
  func renamed() throws {
    var ground = try TreeGround()
    ground.rules.link = .copy
    try ground.publish(["x": "one", "y": "two"])
    let heir = try ground.other("heir").reopened(declared: ["heir": ground.folder])
    #expect(try heir.publish(["x": "one", "y": "two"]).warnings.isEmpty)
    let changed = try heir.publish(["x": "newer"])
    #expect(changed.troubles.isEmpty)
    #expect(ground.files == ["x": "newer"])
  }
}
