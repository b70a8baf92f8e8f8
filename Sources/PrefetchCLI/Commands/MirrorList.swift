import PrefetchConfig
import PrefetchCore
import PrefetchManifests
import PrefetchSystem

/// The list of a mirror, wherever it is.
struct MirrorList {
  /// As it was typed.
  let name: String
  /// A URL, or the absolute path of a file.
  let place: String
  let isRemote: Bool

  init(_ name: String, in current: String) {
    self.name = name
    isRemote = name.contains("://")
    if isRemote {
      place = name
    } else if name == "-" {
      place = SystemFiles.standardInput
    } else {
      let absolute = name.hasPrefix("/") ? name : "\(current)/\(name)"
      place = FileReading.realPath(absolute) ?? absolute
    }
  }

  /// What standard input held, where that is the list; one that is here and cannot be read ends the
  /// command, as it does for `get -`.
  func read(
    _ loaded: LoadedConfiguration,
    _ context: CommandContext,
    base: WebURL?
  ) throws(CommandExit) -> [UInt8]? {
    guard !isRemote else { return nil }
    let limit = Int(clamping: loaded.configuration.policy.maximumManifestSize)
    let source = source(loaded, context, base: base)
    var input: [UInt8]?
    let result: Result<Manifest, Failure>
    do throws(FileReading.Fault) {
      if place == SystemFiles.standardInput {
        let bytes = try FileReading.readStandardInput(limit: limit)
        result = unsafe Self.parse(bytes.span.bytes, source)
        input = bytes
      } else {
        result = try FileReading.withBytes(of: place, limit: limit) { Self.parse($0, source) }
      }
    } catch {
      throw fail("it \(error.reason)", context)
    }
    switch result {
    case .success(let manifest):
      if base == nil { adviseBase(manifest, context) }
    case .failure(let failure):
      throw fail(failure.message, context)
    }
    return input
  }

  private static func parse(
    _ bytes: RawSpan,
    _ source: ManifestSource
  ) -> Result<Manifest, Failure> {
    do throws(Failure) {
      return .success(try ManifestReader.read(bytes, source: source))
    } catch {
      return .failure(error)
    }
  }

  /// As the run will read it.
  private func source(
    _ loaded: LoadedConfiguration,
    _ context: CommandContext,
    base: WebURL?
  ) -> ManifestSource {
    var source = ManifestSource(bytes: .file(place), base: base, mime: nil, name: place)
    if let segment = loaded.configuration.segments.first {
      source.rules = context.builder(loaded).declaration(segment).manifestRules
    }
    return source
  }

  private func adviseBase(_ manifest: Manifest, _ context: CommandContext) {
    guard manifest.rejected.contains(where: { !$0.url.contains("://") }) else { return }
    context.console.report(
      "manifest.no-base",
      "nothing says where the names of the list lead",
      severity: .warning,
      hint: "say where they are published: `--base-url https://example.org/folder/`"
    )
  }

  private func fail(_ message: String, _ context: CommandContext) -> CommandExit {
    let shown = name == "-" ? "on standard input" : "`\(SafeText.line(name))`"
    return context.failed(.config, "manifest.invalid", "the list \(shown): \(message)")
  }
}
