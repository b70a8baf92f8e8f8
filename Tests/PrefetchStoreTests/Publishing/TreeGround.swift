import Glibc
import PrefetchCore
import PrefetchStore

/// A cache with bodies, and the trees published from it.
struct TreeGround {
  let temporary: TemporaryCache
  let store: DiskStore
  let state: StateStore
  var trees: PublishedTrees
  var rules: PublishingRules
  var key = SegmentKey(identity: "me", name: "s")

  init() throws {
    temporary = try TemporaryCache()
    store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    state = try StateStore.openForWriting(state: temporary.path + "/state")
    trees = try PublishedTrees(store: store, state: state, durability: .batch)
    rules = PublishingRules(folder: temporary.path + "/tree")
  }

  var folder: String { rules.folder }

  /// Returns the ground of another segment with the same tree.
  func other(_ name: String) -> TreeGround {
    var other = self
    other.key = SegmentKey(identity: key.identity, name: name)
    return other
  }

  /// Returns another process's publisher of the same trees.
  func reopened(
    state: String = "/state",
    declared: [String: String]? = nil,
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> TreeGround {
    var other = self
    other.trees = try PublishedTrees(
      store: store,
      state: try StateStore.openForWriting(state: temporary.path + state),
      durability: .none,
      declared: declared?.reduce(into: [:]) { folders, segment in
        folders[SegmentKey(identity: key.identity, name: segment.key)] = segment.value
      },
      isCancelled: isCancelled
    )
    return other
  }

  /// Stores the texts under their paths and returns the plan of the tree.
  func plan(_ contents: KeyValuePairs<String, String>, isWhole: Bool = true) throws -> TreePlan {
    var entries: [ManifestEntry] = []
    var changes: [StoreChange] = []
    for (path, text) in contents {
      let body = try store.stage(text)
      let url = try WebURL("https://a.example/\(text.isEmpty ? "empty" : text)")
      changes.append(.store(.cached(url.string), body: body, joining: [key]))
      var entry = ManifestEntry(url: url)
      entry.path = path
      entries.append(entry)
    }
    _ = try store.commit(changes)
    let inventory = try store.readInventory()
    return TreePlan(
      segment: key,
      of: SegmentDeclaration(name: "", source: .inline([])),
      rules: rules,
      entries: EntryTable(entries),
      facts: Planner.Facts(
        inventory: inventory,
        missing: try store.missingObjects(of: inventory),
        policy: RunPolicy(),
        now: Instant(seconds: 1_700_000_000)
      ),
      isWhole: isWhole
    )
  }

  @discardableResult
  func publish(
    _ contents: KeyValuePairs<String, String>,
    thoroughly: Bool = false
  ) throws -> TreeOutcome {
    var plan = try plan(contents)
    plan.isThorough = thoroughly
    return trees.publish(plan)
  }

  /// Texts of all files below the tree's folder.
  var files: [String: String] {
    Self.files(folder)
  }

  static func files(_ root: String, _ below: String = "") -> [String: String] {
    var found: [String: String] = [:]
    for name in FileTree.names(root + below) {
      let path = below + "/" + name
      guard let status = FileTree.status(root + path) else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        found.merge(files(root, path)) { first, _ in first }
        if FileTree.names(root + path).isEmpty { found[String(path.dropFirst()) + "/"] = "" }
      } else if status.st_mode & S_IFMT == S_IFREG {
        found[String(path.dropFirst())] = String(
          decoding: FileTree.read(root + path) ?? [],
          as: UTF8.self
        )
      } else {
        found[String(path.dropFirst())] = "a link"
      }
    }
    return found
  }
}
