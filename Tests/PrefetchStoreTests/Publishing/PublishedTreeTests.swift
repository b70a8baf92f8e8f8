import Glibc
import PrefetchCore
import PrefetchStore
import Testing

/// Trees that are made in their place.
@Suite("A published tree")
struct PublishedTreeTests {
  @Test("A tree becomes equal to its plan each time")
  func equal() throws {
    let ground = try TreeGround()
    let first = try ground.publish(["a/b/c": "one", "a/d": "two", "e": ""])
    #expect(first.troubles.isEmpty)
    #expect(first.created == 3)
    #expect(ground.files == ["a/b/c": "one", "a/d": "two", "e": ""])
    let again = try ground.publish(["a/b/c": "one", "a/d": "two", "e": ""])
    #expect(again.created == 0)
    let changed = try ground.publish(["a/d": "changed", "f": "new"])
    #expect(changed.troubles.isEmpty)
    #expect(changed.created == 2)
    #expect(changed.removed == 2)
    #expect(ground.files == ["a/d": "changed", "f": "new"])
    #expect(try ground.trees.existingTree(of: ground.key, ground.rules) != nil)
  }

  struct Form: Sendable, CustomTestStringConvertible {
    var link: PublishingRules.Link
    var layout: PublishingRules.Layout
    var isLinked: Bool
    var mode: UInt32

    var testDescription: String { "\(link.rawValue) in \(layout.rawValue)" }
  }

  static let forms = [
    Form(link: .hardlink, layout: .url, isLinked: true, mode: 0o444),
    Form(link: .copy, layout: .url, isLinked: false, mode: 0o644),
  ]

  @Test("A tree holds links or copies by its rules", arguments: forms)
  func linkForms(_ form: Form) throws {
    var ground = try TreeGround()
    ground.rules.link = form.link
    ground.rules.layout = form.layout
    let plan = try ground.plan(["a": "one"])
    #expect(ground.trees.publish(plan).troubles.isEmpty)
    guard case .body(let digest, _) = plan.file(at: 0)?.content else {
      Issue.record("no body")
      return
    }
    let object = try #require(FileTree.status(ground.store.objectPath(digest)))
    let file = try #require(FileTree.status(ground.folder + "/a"))
    #expect((file.st_ino == object.st_ino) == form.isLinked)
    #expect(file.st_mode & 0o777 == form.mode)
    // With the other setting, the files are created in the other way.
    ground.rules.link = form.isLinked ? .copy : .hardlink
    #expect(ground.trees.publish(try ground.plan(["a": "one"])).created == 1)
    let other = try #require(FileTree.status(ground.folder + "/a"))
    #expect((other.st_ino == object.st_ino) != form.isLinked)
  }

  @Test("A tree leaves foreign files and reports them")
  func foreign() throws {
    let ground = try TreeGround()
    FileTree.makeFolder(ground.folder)
    FileTree.makeFolder(ground.folder + "/dir")
    FileTree.write(Array("theirs".utf8), to: ground.folder + "/a")
    FileTree.write(Array("same".utf8), to: ground.folder + "/same")
    FileTree.write(Array("beside".utf8), to: ground.folder + "/dir/beside")
    let before = FileTree.listing(ground.folder)
    let outcome = try ground.publish(["a": "ours", "same": "same", "dir": "file", "b": "b"])
    #expect(outcome.troubles.map(\.name) == ["a", "dir"])
    #expect(outcome.troubles.allSatisfy { $0.failure.code == .failed })
    for (path, facts) in before where path != ground.folder {
      guard !path.hasSuffix("/dir") else { continue }
      #expect(FileTree.listing(ground.folder)[path] == facts, "\(path) was touched")
    }
    #expect(ground.files["b"] == "b")
    // Files of others are not removed either.
    try ground.publish(["c": "c"])
    #expect(
      ground.files == ["a": "theirs", "same": "same", "dir/beside": "beside", "c": "c"]
    )
  }

  @Test("A tree leaves files that a user changed")
  func changed() throws {
    var ground = try TreeGround()
    ground.rules.link = .copy
    try ground.publish(["a": "one", "b": "two", "x/y": "three"])
    FileTree.write(Array("mine".utf8), to: ground.folder + "/a")
    FileTree.write(Array("mine too".utf8), to: ground.folder + "/x/y")
    let outcome = try ground.publish(["a": "newer", "b": "two"], thoroughly: true)
    #expect(outcome.troubles.map(\.name) == ["a"])
    #expect(ground.files == ["a": "mine", "b": "two", "x/y": "mine too"])
  }

  @Test("A tree gets deleted files again")
  func repaired() throws {
    let ground = try TreeGround()
    let contents: KeyValuePairs = ["a/b": "one", "c": "two"]
    try ground.publish(contents)
    unsafe unlink(ground.folder + "/a/b")
    unsafe rmdir(ground.folder + "/a")
    #expect(try ground.publish(contents).created == 1)
    #expect(try ground.publish(contents, thoroughly: true).created == 0)
    #expect(ground.files == ["a/b": "one", "c": "two"])
    FileTree.remove(ground.folder)
    #expect(try ground.trees.existingTree(of: ground.key, ground.rules) == nil)
    try ground.publish(contents)
    #expect(ground.files == ["a/b": "one", "c": "two"])
  }

  @Test("A file of a tree may become a folder, and a folder a file")
  func kinds() throws {
    let ground = try TreeGround()
    try ground.publish(["a": "file", "b/c": "inner"])
    let outcome = try ground.publish(["a/x": "inner now", "b": "file now"])
    #expect(outcome.troubles.isEmpty)
    #expect(ground.files == ["a/x": "inner now", "b": "file now"])
  }

  @Test("A tree keeps foreign folders")
  func foldersOfOthers() throws {
    let ground = try TreeGround()
    FileTree.makeFolder(ground.folder)
    FileTree.makeFolder(ground.folder + "/theirs")
    try ground.publish(["theirs/a": "one", "ours/deep/b": "two"])
    try ground.publish(["c": "three"])
    #expect(ground.files == ["theirs/": "", "c": "three"])
  }

  @Test("A tree recognises its own links without its record")
  func lostRecord() throws {
    var ground = try TreeGround()
    ground.rules.link = .hardlink
    try ground.publish(["a": "one"])
    let state = try StateStore.openForWriting(state: ground.temporary.path + "/state2")
    let trees = try PublishedTrees(store: ground.store, state: state, durability: .none)
    #expect(trees.publish(try ground.plan(["a": "one"])).troubles.isEmpty)
    #expect(trees.publish(try ground.plan(["b": "two"])).troubles.isEmpty)
    #expect(ground.files == ["b": "two"])
  }

  @Test("A tree without its record reports copies that it cannot recognise, and leaves them")
  func lostRecordOfCopies() throws {
    var ground = try TreeGround()
    ground.rules.link = .copy
    try ground.publish(["a": "one", "b": "two"])
    let later = try ground.reopened(state: "/state2")
    let first = try later.publish(["a": "one", "b": "two"])
    #expect(first.troubles.isEmpty)
    #expect(first.warnings.map(\.code.description) == ["publish.not-recorded"])
    #expect(first.warnings.first?.message.contains("/a` and 1 more, and no record") == true)
    let second = try later.publish(["a": "one"])
    #expect(second.warnings.map(\.code.description) == ["publish.left"])
    #expect(second.warnings.first?.message.contains("/b` stays") == true)
    #expect(try later.publish(["a": "one", "c": "three"]).warnings.isEmpty)
    #expect(try later.publish(["a": "one"]).warnings.isEmpty)
    #expect(ground.files == ["a": "one", "b": "two"])
  }

  @Test("A tree changes from links to copies for a layout that tools write into")
  func otherLayout() throws {
    var ground = try TreeGround()
    try ground.publish(["a": "one"])
    let linked = try #require(FileTree.status(ground.folder + "/a"))
    ground.rules.layout = .pip
    #expect(try ground.publish(["a": "one"]).created == 1)
    let copied = try #require(FileTree.status(ground.folder + "/a"))
    #expect(linked.st_ino != copied.st_ino)
    #expect(copied.st_mode & 0o777 == 0o644)
  }
}
