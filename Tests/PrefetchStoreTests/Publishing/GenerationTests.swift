import Glibc
import PrefetchCore
import PrefetchStore
import Testing

/// Trees that are switched as a whole.
@Suite("An atomic tree")
struct GenerationTests {
  private func ground(keeping count: Int = 1) throws -> TreeGround {
    var ground = try TreeGround()
    ground.rules.isAtomic = true
    ground.rules.keptGenerations = count
    return ground
  }

  private func generations(_ ground: TreeGround) -> [String] {
    FileTree.names(ground.folder + ".generations")
  }

  @Test("An atomic tree is a new folder after every change and keeps the configured number")
  func switches() throws {
    let ground = try ground(keeping: 2)
    for number in 1...5 {
      let outcome = try ground.publish(["a": "one \(number)", "b": "always"])
      #expect(outcome.troubles.isEmpty)
      #expect(outcome.generation == number)
      #expect(TreeGround.files(ground.folder + "/.") == ["a": "one \(number)", "b": "always"])
    }
    #expect(generations(ground) == ["3", "4", "5"])
    #expect(try ground.publish(["a": "one 5", "b": "always"]).generation == 5)
    #expect(generations(ground) == ["3", "4", "5"])
  }

  @Test("An atomic tree stays as it is where an item is missing or a file is in the way")
  func notWhole() throws {
    let ground = try ground()
    try ground.publish(["a": "one"])
    let outcome = ground.trees.publish(try ground.plan(["a": "two"], isWhole: false))
    #expect(outcome.generation == 1)
    #expect(outcome.warnings.map(\.code.description) == ["publish.not-whole"])
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "one"])
    #expect(generations(ground) == ["1"])
  }

  @Test("An atomic tree does not replace a foreign folder or link at its name")
  func foreign() throws {
    let ground = try ground()
    FileTree.makeFolder(ground.folder)
    FileTree.write(Array("theirs".utf8), to: ground.folder + "/a")
    #expect(try ground.publish(["a": "one"]).troubles.map(\.failure.code) == [.failed])
    #expect(ground.files == ["a": "theirs"])
    FileTree.remove(ground.folder)
    unsafe symlink("/etc", ground.folder)
    #expect(try ground.publish(["a": "one"]).troubles.map(\.failure.code) == [.failed])
    #expect((FileTree.status(ground.folder)?.st_mode ?? 0) & S_IFMT == S_IFLNK)
    unsafe unlink(ground.folder)
    #expect(try ground.publish(["a": "one"]).troubles.isEmpty)
  }

  @Test("An atomic tree rolls back and stays so until it is published again")
  func rollback() throws {
    let ground = try ground(keeping: 3)
    for number in 1...3 { try ground.publish(["a": "one \(number)"]) }
    let back = try ground.trees.rollBack(ground.key, ground.rules)
    #expect(back?.generation == 2)
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "one 2"])
    let held = try ground.publish(["a": "one 4"])
    #expect(held.isHeld)
    #expect(held.generation == 2)
    #expect(try ground.trees.rollBack(ground.key, ground.rules)?.generation == 1)
    #expect(try ground.trees.rollBack(ground.key, ground.rules) == nil)
    let forward = try ground.publish(["a": "one 4"], thoroughly: true)
    #expect(forward.generation == 4)
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "one 4"])
  }

  @Test("An atomic tree that was never complete has nothing to roll back to")
  func neverStood() throws {
    let ground = try ground()
    FileTree.makeFolder(ground.folder)
    FileTree.write(Array("theirs".utf8), to: ground.folder + "/a")
    try ground.publish(["a": "one"])
    #expect(try ground.trees.rollBack(ground.key, ground.rules) == nil)
    #expect(ground.files == ["a": "theirs"])
  }

  @Test("An atomic tree does not roll back to a changed generation")
  func changedPast() throws {
    let ground = try ground()
    try ground.publish(["a": "one"])
    try ground.publish(["a": "two"])
    unsafe unlink(ground.folder + ".generations/1/a")
    var refusal: Failure?
    do throws(Failure) {
      _ = try ground.trees.rollBack(ground.key, ground.rules)
    } catch {
      refusal = error
    }
    #expect(refusal?.code == .failed)
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "two"])
  }

  @Test(
    "An atomic tree gets a number after all that exist",
    arguments: ["9223372036854775807", "41"]
  )
  func strangeNumbers(_ name: String) throws {
    let ground = try ground()
    FileTree.makeFolder(ground.folder + ".generations")
    FileTree.makeFolder(ground.folder + ".generations/\(name)")
    let outcome = try ground.publish(["a": "one"])
    #expect(outcome.troubles.isEmpty)
    #expect(outcome.generation == (name == "41" ? 42 : 1))
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "one"])
    #expect(FileTree.exists(ground.folder + ".generations/\(name)"))
  }

  @Test("An atomic tree without its record is published again and names unknown generations")
  func lostRecord() throws {
    let ground = try ground()
    try ground.publish(["a": "one"])
    try ground.publish(["a": "two"])
    let outcome = try ground.reopened(state: "/state2").publish(["a": "two"])
    #expect(outcome.troubles.isEmpty)
    #expect(outcome.generation == 3)
    #expect(outcome.warnings.map(\.code.description) == ["publish.not-recorded"])
    #expect(outcome.warnings.first?.message.contains("`1`, `2`") == true)
    #expect(generations(ground) == ["1", "2", "3"])
  }

  @Test("An atomic tree is published by one cache at a time")
  func twoAtOnce() throws {
    let ground = try ground(keeping: 3)
    var isOver = false
    // The other publisher waits for the lock until it is stopped, here at once.
    let other = try ground.reopened(state: "/state2") { !isOver }
    var refused: [ErrorCode?] = []
    let busy = try ground.reopened {
      if refused.isEmpty {
        let outcome = try? other.publish(["a": "theirs", "b": "theirs b"])
        refused.append(outcome?.troubles.first?.failure.code)
        do throws(Failure) {
          _ = try other.trees.rollBack(other.key, other.rules)
          refused.append(nil)
        } catch {
          refused.append(error.code)
        }
      }
      return false
    }
    #expect(try busy.publish(["a": "ours", "b": "ours b"]).troubles.isEmpty)
    #expect(refused == [.cancelled, .cancelled])
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "ours", "b": "ours b"])
    isOver = true
    #expect(try other.publish(["a": "theirs", "b": "theirs b"]).generation == 2)
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "theirs", "b": "theirs b"])
    #expect(
      TreeGround.files(ground.folder + ".generations") == [
        "1/a": "ours", "1/b": "ours b", "2/a": "theirs", "2/b": "theirs b",
      ]
    )
  }

  @Test("An atomic tree that was never complete leaves no folder")
  func neverWhole() throws {
    let ground = try ground()
    _ = ground.trees.publish(try ground.plan(["a": "two"], isWhole: false))
    #expect(!FileTree.exists(ground.folder + ".generations"))
  }

  @Test("An atomic tree gets its deleted link again")
  func lostLink() throws {
    let ground = try ground()
    try ground.publish(["a": "one"])
    unsafe unlink(ground.folder)
    #expect(try ground.publish(["a": "one"]).generation == 1)
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "one"])
  }

  @Test("An atomic tree that becomes a plain one reports what to do with its link")
  func atomicSwitchedOff() throws {
    var ground = try ground()
    try ground.publish(["a": "one"])
    ground.rules.isAtomic = false
    let message = try ground.publish(["a": "one"]).troubles.first?.failure.message
    #expect(message?.contains("is the link of an atomic tree") == true)
    unsafe unlink(ground.folder)
    #expect(try ground.publish(["a": "one"]).troubles.isEmpty)
  }

  @Test("An atomic tree with a deleted file is published again")
  func repaired() throws {
    let ground = try ground()
    try ground.publish(["a": "one", "b": "two"])
    unsafe unlink(ground.folder + "/a")
    // File times have a resolution of milliseconds; this change came a moment later.
    let later = timespec(tv_sec: time(nil) + 1, tv_nsec: 0)
    unsafe utimensat(AT_FDCWD, ground.folder, [later, later], 0)
    #expect(try ground.publish(["a": "one", "b": "two"]).generation == 2)
    #expect(try ground.publish(["a": "one", "b": "two"], thoroughly: true).generation == 2)
    #expect(TreeGround.files(ground.folder + "/.") == ["a": "one", "b": "two"])
  }

  @Test("An atomic tree is complete for every reader, however often it is switched")
  func readers() throws {
    let ground = try ground(keeping: 1000)
    try ground.publish(["a": "round 0", "b": "round 0 b", "dir/c": "round 0 c"])
    let reader = TreeReader(ground.folder)
    reader.start()
    for round in 1...200 {
      try ground.publish([
        "a": "round \(round)", "b": "round \(round) b", "dir/c": "round \(round) c",
      ])
    }
    let (looks, mixed) = reader.finish()
    #expect(looks > 0)
    #expect(mixed == [])
  }
}
