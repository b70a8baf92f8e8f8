import PrefetchCore
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

/// Where `get` puts bodies: stdout, a file, a folder, or only their paths.
struct Delivery {
  private enum Target {
    case standardOutput
    case paths
    case file(String)
    case folder(String)
  }

  private let context: CommandContext
  private let target: Target

  /// Several bodies need a folder, or paths; they are never run together on stdout.
  init(context: CommandContext, options: GetOptions, count: Int) throws(CommandExit) {
    self.context = context
    if options.printsPaths {
      target = .paths
    } else if let output = options.output {
      let isFolder = output.hasSuffix("/") || FileReading.isFolder(output)
      target =
        isFolder
        ? .folder(output.hasSuffix("/") ? String(output.dropLast()) : output) : .file(output)
      guard isFolder || count <= 1 else {
        let diagnostic = Diagnostic(
          "usage.several-items",
          "\(count) items do not fit into one file",
          hint: "write a folder: `-o \(output)/`"
        )
        throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
      }
    } else {
      target = .standardOutput
      guard count <= 1 else {
        let diagnostic = Diagnostic(
          "usage.several-items",
          "\(count) items need a place",
          hint: "add `-o DIR/` or `--path`"
        )
        throw CommandExit(status: context.console.fail(.usage, [diagnostic]))
      }
    }
  }

  /// The file it was written to; nil where it went to stdout or stayed where it is.
  func deliver(
    _ entry: ManifestEntry,
    digest: ContentDigest,
    path: String,
    from store: DiskStore
  ) throws(Failure) -> String? {
    switch target {
    case .paths:
      if !context.shared.isJSON { context.console.print(path) }
      return nil
    case .standardOutput:
      try copy(digest, from: store) { bytes throws(Failure) in context.console.print(bytes: bytes) }
      return nil
    case .file(let file):
      try write(digest, from: store, to: file)
      return file
    case .folder(let folder):
      let file = "\(folder)/\(Self.name(of: entry))"
      try FolderCreation.make(String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]))
      try write(digest, from: store, to: file)
      return file
    }
  }

  private func write(
    _ digest: ContentDigest,
    from store: DiskStore,
    to file: String
  ) throws(Failure) {
    try copy(digest, from: store) { bytes throws(Failure) in
      var output = try AtomicFile(path: file)
      try output.write(bytes)
      try output.commit()
    }
  }

  private func copy(
    _ digest: ContentDigest,
    from store: DiskStore,
    _ use: (RawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    do {
      try store.withObject(digest) { try use($0) }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(.storeDamaged, "\(digest) cannot be read: \(error)")
    }
  }

  /// The manifest's safe path, else the last part of the URL; never anything that leaves the folder.
  private static func name(of entry: ManifestEntry) -> String {
    if let path = entry.path { return path }
    let last = entry.url.path.split(separator: "/").last.map(String.init) ?? ""
    let safe = last.utf8.count <= 200 && !last.isEmpty && !last.hasPrefix(".")
    return safe ? last : ItemIdentifier.make(for: entry.url)
  }
}
