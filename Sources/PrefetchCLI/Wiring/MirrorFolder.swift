import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

/// The folder of a mirror, with its cache and state inside where nobody wants them elsewhere.
struct MirrorFolder {
  /// What the one segment of a mirror is called.
  static let segment = "mirror"

  /// Absolute, and without links as far as it exists.
  let path: String

  init(_ name: String, in current: String) {
    let absolute = name.hasPrefix("/") ? name : "\(current)/\(name)"
    path = FileReading.realPath(absolute) ?? absolute
  }

  var own: String {
    "\(path)/\(MirrorRules.ownFolder)"
  }

  /// Makes what is missing; nobody else has any business in what is the mirror's own.
  func make(withOwn hasOwn: Bool) throws(Failure) {
    try FolderCreation.make(path)
    if hasOwn { try FolderCreation.makePrivate(own) }
  }

  /// Whether a place is the one that a mirror keeps for itself.
  static func isOwn(_ place: String, of rules: PublishingRules?) -> Bool {
    guard let rules, rules.mirror != nil else { return false }
    return place == "\(rules.folder)/\(MirrorRules.ownFolder)"
  }

  /// A folder with its state inside may have been moved since.
  static func follow(
    _ loaded: LoadedConfiguration,
    _ places: Places,
    _ trees: PublishedTrees
  ) throws(Failure) {
    for segment in loaded.configuration.segments {
      guard let publication = segment.publish, publication.mirror != nil,
        let folder = publication.folder, places.state == "\(folder)/\(MirrorRules.ownFolder)"
      else { continue }
      try trees.follow(SegmentKey(identity: loaded.identity, name: segment.name), to: folder)
    }
  }
}
