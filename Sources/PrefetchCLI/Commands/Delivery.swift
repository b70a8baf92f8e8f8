import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// Destination of the bodies that `get` delivers: stdout, a file, a folder, or only their paths.
struct Delivery {
  private enum Target {
    case standardOutput
    case paths
    case file(String)
    case folder(String)
  }

  private let context: CommandContext
  private let target: Target
  private let durability: Durability
  /// Whether stdout is a terminal and the user did not ask for bodies there.
  private let isTerminalGuarded: Bool
  let refusal = Refusal()

  final class Refusal {
    fileprivate(set) var value: Diagnostic?
  }

  /// Chooses the target; several bodies need a folder or paths, and never share stdout.
  init(
    context: CommandContext,
    options: GetOptions,
    entries: [ManifestEntry],
    durability: Durability
  ) throws(CommandExit) {
    self.context = context
    self.durability = durability
    isTerminalGuarded = options.output == nil && ProcessEnvironment.isTerminal(1)
    let problem: Diagnostic?
    if options.printsPaths {
      target = .paths
      problem = nil
    } else if let output = options.outputPath {
      let folder = Self.folder(options)
      target = folder.map { .folder($0) } ?? .file(output)
      problem =
        folder.map { Self.collision(entries, below: $0) }
        ?? Self.crowd(
          entries,
          "do not fit into one file",
          hint: "write a folder: `-o \(output)/`"
        )
    } else {
      target = .standardOutput
      problem = Self.crowd(entries, "need a place", hint: "add `-o DIR/` or `--path`")
    }
    if let problem {
      throw context.failed(.usage, [problem])
    }
  }

  static func folder(_ options: GetOptions) -> String? {
    guard let output = options.outputPath, !options.printsPaths else { return nil }
    if output.hasSuffix("/") { return String(output.dropLast()) }
    return FileReading.isFolder(output) ? output : nil
  }

  private static func crowd(
    _ entries: [ManifestEntry],
    _ trouble: String,
    hint: String
  ) -> Diagnostic? {
    guard entries.count > 1 else { return nil }
    return Diagnostic("usage.several-items", "\(entries.count) items \(trouble)", hint: hint)
  }

  private static func collision(_ entries: [ManifestEntry], below folder: String) -> Diagnostic? {
    var owners: [String: WebURL] = [:]
    for entry in entries {
      guard let name = try? name(of: entry, below: folder) else { continue }
      if let owner = owners[name], owner != entry.url {
        return Diagnostic(
          "usage.same-name",
          "`\(owner.redacted)` and `\(entry.url.redacted)` would both be written to `\(name)`",
          hint: "get them one by one with `-o FILE`, or take their paths with `--path`"
        )
      }
      owners[name] = entry.url
    }
    for (name, owner) in owners {
      for folder in PathText.folders(of: name) {
        guard let other = owners[folder] else { continue }
        return Diagnostic(
          "usage.same-name",
          "`\(other.redacted)` would be written to `\(folder)`, which has to be a folder for `\(owner.redacted)`",
          hint: "take their paths with `--path`"
        )
      }
    }
    return nil
  }

  /// Copies bodies out of a store; several are synced together, at the latest in `finish`.
  final class Output {
    let store: DiskStore
    private let delivery: Delivery
    private var folder: DeliveredFolder?

    fileprivate init(_ delivery: Delivery, _ store: DiskStore) {
      self.delivery = delivery
      self.store = store
    }

    /// Returns the path of the delivered body; nil if the stored body does not match its digest.
    func deliver(
      _ entry: ManifestEntry,
      _ record: ContentRecord,
      _ digest: ContentDigest
    ) throws(Failure) -> String? {
      let size = record.size
      if case .folder(let path) = delivery.target {
        // A stored ad consists of files other than the tag's.
        let isAd =
          record.type == BundleForm.ad.rawValue && entry.path == nil && !record.files.isEmpty
        let name =
          isAd ? ServedPath.mainName(of: record) : try Delivery.name(of: entry, below: path)
        let isDelivered = try folder(path).deliver(digest, size: size, as: name)
        return isDelivered ? "\(path)/\(name)" : nil
      }
      guard let body = try store.intactBody(digest) else { return nil }
      switch delivery.target {
      case .file(let file):
        try delivery.write(body, to: file)
        return file
      case .standardOutput:
        try delivery.print(entry, record, body)
      case .folder, .paths:
        break
      }
      return store.objectPath(digest)
    }

    func finish() throws(Failure) {
      try folder?.finish()
    }

    private func folder(_ path: String) throws(Failure) -> DeliveredFolder {
      if let folder { return folder }
      try FolderCreation.make(path)
      let made = try DeliveredFolder(at: path, of: store, durability: delivery.durability)
      folder = made
      return made
    }
  }

  func output(of store: DiskStore) -> Output {
    Output(self, store)
  }

  private func write(_ body: IntactBody, to file: String) throws(Failure) {
    // A leading plus would append.
    var output = try AtomicFile(path: file.hasPrefix("+") ? "./\(file)" : file)
    try body.eachPiece { (piece) throws(Failure) in try output.write(piece) }
    try output.commit()
  }

  private func print(
    _ entry: ManifestEntry,
    _ record: ContentRecord,
    _ body: IntactBody
  ) throws(Failure) {
    var isText: Bool?
    try body.eachPiece { (piece) throws(Failure) in
      let shows = isText ?? (!isTerminalGuarded || TextBody.isText(piece))
      isText = shows
      if shows { context.console.print(bytes: piece) }
    }
    guard isText == false else { return }
    refusal.value = Diagnostic(
      "get.not-text",
      "`\(entry.url.redacted)` is not text (\(record.mime ?? "of no type"), "
        + "\(Amounts.bytes(record.size))), and standard output is a terminal",
      hint: "`-o FILE` writes it to a file; `-o -` prints it anyway"
    )
  }

  /// Returns the name in a tree of layout `basename`; a stream is delivered as its playlist.
  static func name(of entry: ManifestEntry, below folder: String) throws(Failure) -> String {
    var entry = entry
    if entry.bundleForm != .ad { entry.type = nil }
    var rules = PublishingRules(folder: folder)
    rules.layout = .basename
    guard let name = try TreeName(rules).make(of: entry, body: nil) else {
      throw Failure(.badName, "its URL ends with no file name; `path` can name it")
    }
    return name
  }
}
