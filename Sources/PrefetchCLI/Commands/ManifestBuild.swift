import PrefetchCore
import PrefetchCrypto
import PrefetchManifests
import PrefetchSystem

struct ManifestBuild: Command {
  let context: CommandContext
  let options: ManifestBuildOptions

  func run() throws(CommandExit) -> Int32 {
    guard let base = options.base else { return ExitStatus.usage.code }
    let generated = try generated()
    let earlier = earlier()
    let walk = try walk()
    report(walk.omitted)
    let problems = walk.unreadable.map { path, reason in
      Diagnostic("manifest.unreadable", "`\(shown(path))` cannot be read: \(reason)")
    }
    let (items, failures) = items(of: walk, below: base, earlier: earlier)
    if let signal = StopSignals.pending { return 128 + signal }
    guard problems.isEmpty, failures.isEmpty else {
      return context.console.fail(.io, problems + failures)
    }
    guard options.hasLines || items.count <= Self.maximumItems else {
      throw context.failed(
        .usage,
        "manifest.too-many",
        "\(items.count) files are more than readers take from one JSON document",
        hint: "add `--ndjson`"
      )
    }
    if items.isEmpty {
      context.console.report(
        "manifest.empty",
        "`\(options.folder)` holds no file to name, so the manifest has no items",
        severity: .warning,
        hint: "readers refuse it where they do not set `allow_empty`"
      )
    }
    var heading = NativeManifestText.Heading(base: base, generated: generated)
    heading.expires = options.expires.map { generated + $0 }
    heading.segment = options.segment
    heading.priority = options.priority
    do throws(Failure) {
      try write(items, heading)
    } catch {
      throw context.failed(.io, "manifest.write", error.message)
    }
    return ExitStatus.ok.code
  }

  /// Limit of readers for one document that is not line-based.
  private static let maximumItems = 1_000_000

  /// Returns the stated time, else `SOURCE_DATE_EPOCH` (reproducible builds), else the present.
  private func generated() throws(CommandExit) -> Instant {
    if let stated = options.generated { return stated }
    guard let epoch = context.environment.variables["SOURCE_DATE_EPOCH"], !epoch.isEmpty else {
      return Instant(seconds: context.clock.now().wall.seconds)
    }
    guard let seconds = Int64(epoch), (0..<253_402_300_800).contains(seconds) else {
      throw context.failed(
        .usage,
        [
          Diagnostic(
            "usage.bad-value",
            "`SOURCE_DATE_EPOCH` takes seconds since 1970, not `\(SafeText.line(epoch))`",
            hint: "correct the variable, or unset it"
          )
        ]
      )
    }
    return Instant(seconds: seconds)
  }

  private func earlier() -> EarlierManifest? {
    guard let path = options.previous else { return nil }
    let problem: String
    do {
      return try EarlierManifest(FileReading.read(path, limit: 1 << 30))
    } catch FileReading.Fault.missing {
      context.console.note("`\(path)` does not exist yet, so every file is read")
      return nil
    } catch let fault as FileReading.Fault {
      problem = fault.reason
    } catch {
      problem = "is not an earlier manifest: \((error as? Failure)?.message ?? "\(error)")"
    }
    context.console.report(
      "manifest.previous",
      "`\(path)` \(problem); every file is read",
      severity: .warning
    )
    return nil
  }

  // MARK: Which files

  private func walk() throws(CommandExit) -> FolderWalk {
    let options = options
    do {
      return try FolderWalk(options.folder) { path, isFolder in
        Self.wants(path, isFolder: isFolder, options) ? .include : .exclude
      }
    } catch {
      throw context.failed(.io, "manifest.folder", "`\(options.folder)` \(error.reason)")
    }
  }

  private static func wants(
    _ bytes: [UInt8],
    isFolder: Bool,
    _ options: ManifestBuildOptions
  ) -> Bool {
    let path = String(decoding: bytes, as: UTF8.self)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if !options.includesHidden, name.hasPrefix(".") { return false }
    // Cache and state of a mirror are not part of its content.
    if MirrorRules.isInOwnFolder(path) { return false }
    let matches = { (pattern: String) in
      Glob.matches(pattern, pattern.contains("/") ? path : name)
    }
    if options.excluded.contains(where: matches) { return false }
    return isFolder || options.included.isEmpty || options.included.contains(where: matches)
  }

  private var own: Set<FolderWalk.Identity> {
    let files = options.output.map { [$0, "\($0).minisig"] } ?? []
    let written = files.compactMap { FolderWalk.identity(ofFile: $0) }
    return Set(written + [FolderWalk.identity(ofDescriptor: 1)].compactMap(\.self))
  }

  private func report(_ omitted: [(path: [UInt8], reason: FolderWalk.Omission)]) {
    for (path, reason) in omitted {
      let words =
        switch reason {
        case .leadsOutside: "is a link to a place outside the folder"
        case .linkToFolder: "is a link to a folder"
        case .dangling: "is a broken link"
        case .special: "is not a file"
        }
      let message = "`\(shown(path))` \(words); it is left out"
      context.console.report("manifest.left-out", message, severity: .warning)
    }
  }

  // MARK: What they are

  private func items(
    of walk: FolderWalk,
    below base: WebURL,
    earlier: EarlierManifest?
  ) -> (items: [NativeManifestText.Item], failures: [Diagnostic]) {
    var items: [NativeManifestText.Item] = []
    var failures: [Diagnostic] = []
    let own = own
    for file in walk.files where !own.contains(file.identity) {
      if StopSignals.pending != nil { break }
      do throws(Objection) {
        items.append(try item(file, of: walk, below: base, earlier: earlier))
      } catch {
        failures.append("manifest.\(error.code)", "`\(shown(file.path))` \(error.words)")
      }
    }
    return (items, failures)
  }

  private struct Objection: Error {
    var code: String
    var words: String
  }

  private func item(
    _ file: FolderWalk.File,
    of walk: FolderWalk,
    below base: WebURL,
    earlier: EarlierManifest?
  ) throws(Objection) -> NativeManifestText.Item {
    guard let path = String(validating: file.path, as: UTF8.self) else {
      throw Objection(code: "name", words: "has a name that is not UTF-8; rename it")
    }
    let url = NativeManifestText.reference(to: path)
    do {
      _ = try base.resolving(url)
    } catch {
      throw Objection(code: "name", words: "cannot be named by a URL: it \(error)")
    }
    let modified = Instant(
      milliseconds: (file.modified.seconds * 1000).addingSaturated(
        file.modified.nanoseconds / 1_000_000
      )
    )
    let digest: ContentDigest
    if let known = earlier?.digest(of: url, size: file.size, modified: modified) {
      digest = known
    } else {
      digest = try self.digest(of: file, walk)
    }
    var item = NativeManifestText.Item(
      url: url,
      size: file.size,
      modified: modified,
      digest: digest
    )
    // Stated for every file: layout `url` would put files without it below the host of their URL.
    if NativeManifestText.isPublishable(path: path) { item.path = path }
    let mime = ContentType.known(forFileNamed: path).map(BodyCheck.essence)
    let kind = mime?.split(separator: "/").first.map(String.init)
    if let kind, ["image", "video", "audio"].contains(kind) { item.type = kind }
    if options.statesTypes { item.mime = ContentType.known(forFileNamed: path) }
    return item
  }

  private func digest(
    of file: FolderWalk.File,
    _ walk: FolderWalk
  ) throws(Objection) -> ContentDigest {
    do {
      let hasher = try BodyHasher()
      try walk.read(file) { bytes in
        hasher.update(bytes)
        return StopSignals.pending == nil
      }
      return hasher.finish().sha256
    } catch let fault as FolderWalk.ReadingFault {
      switch fault {
      case .changed:
        throw Objection(code: "changed", words: "changed while it was read; try again")
      case .unreadable(let reason):
        throw Objection(code: "unreadable", words: "cannot be read: \(reason)")
      }
    } catch {
      throw Objection(code: "digest", words: "cannot be hashed: \(error)")
    }
  }

  /// Returns a printable path; bytes that are no UTF-8 are percent-encoded.
  private func shown(_ path: [UInt8]) -> String {
    guard !path.isEmpty else { return options.folder }
    if let text = String(validating: path, as: UTF8.self) { return SafeText.line(text) }
    var text = ""
    for byte in path {
      let isPrintable = (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "%")
      text +=
        isPrintable ? String(UnicodeScalar(byte)) : "%\(Hexadecimal.encode([byte]).uppercased())"
    }
    return text
  }

  // MARK: The manifest

  private func write(
    _ items: [NativeManifestText.Item],
    _ heading: NativeManifestText.Heading
  ) throws(Failure) {
    var text = NativeManifestText(options.hasLines ? .lines : .document)
    var chunk = text.opening(heading)
    guard let output = options.output, output != "-" else {
      for item in items {
        chunk += text.item(item)
        guard chunk.count >= Self.chunkSize else { continue }
        context.console.print(bytes: chunk)
        chunk.removeAll(keepingCapacity: true)
      }
      context.console.print(bytes: chunk + text.closing())
      return
    }
    // A leading plus would append.
    var file = try AtomicFile(path: output.hasPrefix("+") ? "./\(output)" : output)
    for item in items {
      chunk += text.item(item)
      guard chunk.count >= Self.chunkSize else { continue }
      unsafe try file.write(chunk.span.bytes)
      chunk.removeAll(keepingCapacity: true)
    }
    chunk += text.closing()
    unsafe try file.write(chunk.span.bytes)
    try file.commit()
  }

  private static let chunkSize = 1 << 16
}
