import PrefetchConfig
import PrefetchCore
import PrefetchDocuments
import PrefetchStore

/// Options of a mirror's last run, for commands that know the mirror by its cache.
///
/// The list is in the index, and folders may move, so neither is recorded.
struct MirrorRecord {
  let options: [Override]

  init(of loaded: LoadedConfiguration) {
    options = loaded.options.filter { option in
      !Self.isOfPlaces(option.path) && !Self.mayBeSecret(option, loaded.secrets)
    }
  }

  private init(options: [Override]) {
    self.options = options
  }

  private static func isOfPlaces(_ path: String) -> Bool {
    let segment = "segments.\(MirrorRules.segment)"
    return ["cache.dir", "state.dir", "\(segment).manifest"].contains(path)
      || path.hasPrefix("\(segment).publish.")
  }

  private static func mayBeSecret(_ option: Override, _ secrets: [String]) -> Bool {
    option.path == "license" || Redaction.masked(option.text, secrets: secrets) != option.text
      || Redaction.url(option.text) != option.text
  }

  // MARK: In the state

  func write(to state: StateStore, of identity: String) throws(Failure) {
    let rows = options.map { JSONValue.strings([$0.path, $0.text, $0.source]) }
    try state.recordMirrorOptions(JSONWriter.string(.array(rows)), of: identity)
  }

  /// Returns the record of a mirror; nil where no run has made one.
  static func read(from state: StateStore, of identity: String) throws(Failure) -> Self? {
    guard let text = try state.mirrorOptions(of: identity) else { return nil }
    let root = DocumentReader.read(Array(text.utf8), source: "mirror", syntax: .json).node
    guard let rows = root?.sequence else { return nil }
    let options = rows.compactMap { row -> Override? in
      let words = (row.sequence ?? []).compactMap { $0.scalar?.text }
      guard words.count == 3 else { return nil }
      return Override(path: words[0], text: words[1], source: words[2])
    }
    return Self(options: options)
  }

  /// Returns the recorded options that the command line does not give another value.
  func options(under shared: SharedOptions) -> [Override] {
    let given = Set(shared.settings.map(\.key))
    return options.filter { !given.contains($0.path) }
  }
}
