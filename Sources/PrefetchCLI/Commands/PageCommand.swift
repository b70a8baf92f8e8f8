import PrefetchCore
import PrefetchDocuments
import PrefetchStore
import PrefetchTransfer

/// `help`, `completion` and `--version`: pages that need nothing but the tables.
struct PageCommand {
  let context: CommandContext

  func help(_ topic: HelpTopic) -> Int32 {
    plain { HelpPages.render(topic) }
  }

  func completion(_ shell: Shell) -> Int32 {
    plain { CompletionScript.render(for: shell) }
  }

  func version() -> Int32 {
    let versions = ToolVersions.linked
    if context.shared.isJSON {
      context.console.print([
        "schema": "prefetch-version/1",
        "name": .string(ToolVersions.name),
        "version": .string(ToolVersions.version),
        "libcurl": .string(versions.libcurl),
        "sqlite": .string(versions.sqlite),
        "openssl": .string(versions.openssl),
      ])
    } else {
      context.console.print("\(ToolVersions.name) \(ToolVersions.version)")
      context.console.print("libcurl \(versions.libcurl)")
      context.console.print("sqlite \(versions.sqlite)")
      context.console.print("openssl \(versions.openssl)")
    }
    return ExitStatus.ok.code
  }

  private func plain(_ page: () -> String) -> Int32 {
    guard !context.shared.isJSON else {
      let diagnostic = Diagnostic(
        "usage.no-json",
        "this page has no JSON form, so leave out `--json`"
      )
      return context.console.fail(.usage, [diagnostic])
    }
    let text = page()
    context.console.print(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    return ExitStatus.ok.code
  }
}

extension ToolVersions {
  /// Those of the libraries that this process runs with.
  static var linked: ToolVersions {
    let library = LibraryVersion()
    return ToolVersions(
      libcurl: library.curl,
      sqlite: SQLiteVersion.text,
      openssl: library.tls ?? "none"
    )
  }
}
