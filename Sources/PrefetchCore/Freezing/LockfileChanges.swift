/// Differences between two lock files, item by item.
package struct LockfileChanges: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case added
    case changed
    case removed
  }

  package struct Line: Hashable, Sendable {
    package var kind: Kind
    package var segment: String
    package var url: String

    package var mark: String {
      switch kind {
      case .added: "+"
      case .changed: "~"
      case .removed: "-"
      }
    }
  }

  package private(set) var lines: [Line] = []

  package init(from old: Lockfile?, to new: Lockfile) {
    let names = Set((old?.segments ?? []).map(\.name) + new.segments.map(\.name)).sorted()
    for name in names {
      add(name, from: old?[name] ?? LockedSegment(name: name), to: new[name])
    }
  }

  private mutating func add(_ name: String, from old: LockedSegment, to new: LockedSegment?) {
    let new = new ?? LockedSegment(name: name)
    var found: [Line] = []
    for position in new.items.indices {
      let url = new.items.url(at: position)
      guard let known = old.items.position(of: new.items.key(at: position)) else {
        found.append(Line(kind: .added, segment: name, url: url))
        continue
      }
      let isSame =
        old.items.columnDigest(at: known) == new.items.columnDigest(at: position)
        && old.items.size(at: known) == new.items.size(at: position)
        && old.items.path(at: known) == new.items.path(at: position)
        && old.files(of: url) == new.files(of: url)
      if !isSame { found.append(Line(kind: .changed, segment: name, url: url)) }
    }
    for position in old.items.indices
    where new.items.position(of: old.items.key(at: position)) == nil {
      found.append(Line(kind: .removed, segment: name, url: old.items.url(at: position)))
    }
    lines += found.sorted { ($0.url, $0.kind.rawValue) < ($1.url, $1.kind.rawValue) }
  }
}
