internal import PrefetchCore

/// Files in a tree that are not prefetch's own, and the warnings about them.
struct ForeignFiles {
  /// Some files, of which a message names the first.
  private struct Group {
    var first = ""
    var owner: UInt32 = 0
    var count = 0

    mutating func add(_ path: String, owner: UInt32 = 0) {
      if count == 0 { (first, self.owner) = (path, owner) }
      count += 1
    }

    var text: String { "`\(first)`" + (count > 1 ? " and \(count - 1) more" : "") }

    func verb(_ singular: String, _ plural: String) -> String { count > 1 ? plural : singular }
  }

  /// Files of this user with the wanted bytes.
  private var serving = Group()
  /// Files of this user with further names, by which other programs may change them.
  private var linked = Group()
  private var ofOthers = Group()
  /// Files that served, and whose names the plan no longer has.
  private var left = Group()
  /// Files with the wanted bytes in the places of published ones.
  private var replacing = Group()

  /// Adds a file that has the wanted bytes and is used as it is.
  mutating func addServing(_ spot: TreeSpot, adopts: Bool, replaces: Bool) {
    if replaces { replacing.add(spot.path) }
    if !spot.status.isOwn {
      ofOthers.add(spot.path, owner: spot.status.owner)
    } else if adopts, spot.status.linkCount > 1 {
      linked.add(spot.path)
    } else {
      serving.add(spot.path)
    }
  }

  mutating func addLeft(_ path: String) { left.add(path) }

  /// Returns the warnings of a filling; files that served before are no news.
  func warnings(_ rules: PublishingRules, isFirst: Bool) -> [Diagnostic] {
    var warnings: [Diagnostic] = []
    if isFirst || rules.adopts, ofOthers.count > 0 { warnings.append(warningOfOthers(rules)) }
    if linked.count > 0 { warnings.append(warningOfLinked) }
    if isFirst, serving.count > 0 { warnings.append(warningOfServing(rules)) }
    if left.count > 0 { warnings.append(warningOfLeft) }
    if replacing.count > 0 { warnings.append(warningOfReplacing) }
    return warnings
  }

  private func warningOfServing(_ rules: PublishingRules) -> Diagnostic {
    Diagnostic(
      "publish.not-recorded",
      "`\(rules.folder)` already held \(serving.text), and no record says that prefetch put \(serving.verb("it", "them")) there "
        + "(the state may be lost): used as \(serving.verb("it is", "they are")), and neither replaced nor deleted when the list changes",
      severity: .warning,
      hint: rules.mirror == nil
        ? "`publish: {adopt: true}` makes them prefetch's own, or delete them and run `prefetch publish`"
        : rules.adopts
          ? "delete them and mirror again to have prefetch's own"
          : "mirror again with `--adopt` to make them prefetch's own"
    )
  }

  private func warningOfOthers(_ rules: PublishingRules) -> Diagnostic {
    let adopting = rules.mirror == nil ? "`adopt: true`" : "`--adopt`"
    return Diagnostic(
      "publish.not-adopted",
      "\(ofOthers.text) \(ofOthers.verb("belongs", "belong")) to another user (\(ofOthers.owner)): used as it is, never adopted, and not deleted when the list drops it",
      severity: .warning,
      hint:
        "`chown` to the user who runs prefetch and use \(adopting), or delete to have prefetch's own"
    )
  }

  private var warningOfLinked: Diagnostic {
    Diagnostic(
      "publish.not-adopted",
      "\(linked.text) \(linked.verb("has", "have")) a further hard link: used as it is, never adopted, and not deleted when the list drops it",
      severity: .warning,
      hint: "remove the other link (`find -samefile` finds it), or delete to have prefetch's own"
    )
  }

  private var warningOfLeft: Diagnostic {
    Diagnostic(
      "publish.left",
      "\(left.text) \(left.verb("stays", "stay")) although the list dropped its item: the file is not prefetch's",
      severity: .warning,
      hint: "delete it by hand if you do not need it"
    )
  }

  private var warningOfReplacing: Diagnostic {
    Diagnostic(
      "publish.replaced",
      "\(replacing.text): another file with the same bytes replaced the published one; "
        + "it is used as it is, and will not be deleted when the list drops it",
      severity: .warning,
      hint: "delete it, and the next run puts prefetch's own there"
    )
  }
}
