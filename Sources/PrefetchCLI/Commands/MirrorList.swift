import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

struct MirrorList {
  let name: String
  let location: String
  let isRemote: Bool
  let isStream: Bool

  init(_ name: String, in current: String) {
    self.name = name
    isRemote = name.contains("://") || ShortAddress.isMeant(name)
    if isRemote {
      location = name
      isStream = false
    } else if name == "-" {
      location = SystemFiles.standardInput
      isStream = true
    } else {
      let absolute = name.hasPrefix("/") ? name : "\(current)/\(name)"
      isStream = FileReading.isStream(absolute)
      // The path behind `/dev/fd/63` cannot be opened.
      location = isStream ? absolute : FileReading.realPath(absolute) ?? absolute
    }
  }

  /// Returns the run's files, with a stream's bytes; an unreadable local list ends the command.
  func files(
    _ loaded: LoadedConfiguration,
    _ context: CommandContext,
    base: WebURL?
  ) throws(CommandExit) -> SystemFiles {
    guard !isRemote else { return SystemFiles() }
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    let limit = Int(clamping: loaded.configuration.policy.maximumManifestSize)
    let source = source(loaded, context, base: base)
    var files = SystemFiles()
    let result: Result<Manifest, Failure>
    do throws(FileReading.Fault) {
      if isStream {
        let bytes =
          location == SystemFiles.standardInput
          ? try FileReading.readStandardInput(limit: limit)
          : try FileReading.read(location, limit: limit)
        result = unsafe ManifestReader.reading(bytes.span.bytes, source)
        files = SystemFiles(holding: bytes, of: location)
      } else {
        result = try FileReading.withBytes(of: location, limit: limit) {
          ManifestReader.reading($0, source)
        }
      }
    } catch {
      throw fail("it \(error.reason)", context)
    }
    switch result {
    case .success(let manifest):
      if isStream { try refuseEmpty(manifest, loaded, context) }
      if base == nil { adviseBase(manifest, context) }
    case .failure(let failure):
      throw fail(failure.message, context)
    }
    return files
  }

  /// Refuses an empty list from a pipe: most likely its writer failed, and all files would go.
  private func refuseEmpty(
    _ manifest: Manifest,
    _ loaded: LoadedConfiguration,
    _ context: CommandContext
  ) throws(CommandExit) {
    let allowsEmpty = loaded.configuration.segments.first?.declaration.allowsEmpty == true
    guard manifest.itemCount == 0, manifest.furtherDocuments.isEmpty, !allowsEmpty else { return }
    throw context.failed(
      .nothing,
      "manifest.empty",
      "the list \(shown) names no items",
      hint: "check the program that wrote it; `--set defaults.allow_empty=true` accepts it"
    )
  }

  private func source(
    _ loaded: LoadedConfiguration,
    _ context: CommandContext,
    base: WebURL?
  ) -> ManifestSource {
    var source = ManifestSource(bytes: .file(location), base: base, mime: nil, name: location)
    if let segment = loaded.configuration.segments.first {
      source.rules = context.builder(loaded).declaration(segment).manifestRules
    }
    return source
  }

  private func adviseBase(_ manifest: Manifest, _ context: CommandContext) {
    guard manifest.rejected.contains(where: { !$0.url.contains("://") }) else { return }
    context.console.report(
      "manifest.no-base",
      "the names in the list are relative, and no base URL is set",
      severity: .warning,
      hint: "give the URL of their folder: `--base-url https://example.org/folder/`"
    )
  }

  private var shown: String {
    name == "-" ? "on standard input" : "`\(SafeText.line(name))`"
  }

  private func fail(_ message: String, _ context: CommandContext) -> CommandExit {
    context.failed(.config, "manifest.invalid", "the list \(shown): \(message)")
  }
}
