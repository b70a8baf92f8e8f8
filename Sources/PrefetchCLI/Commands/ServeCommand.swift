import PrefetchCore
import PrefetchDocuments
import PrefetchServe
import PrefetchSystem

/// `serve --origin DIR`: a folder over loopback HTTP, for trying things out and for tests.
struct ServeCommand {
  let context: CommandContext
  let options: ServeOptions

  func run() throws(CommandExit) -> Int32 {
    guard let folder = options.origin else {
      let diagnostic = Diagnostic("usage.no-origin", "`serve` needs `--origin DIR` in this version")
      return context.console.fail(.usage, [diagnostic])
    }
    do {
      let server = try OriginServer.start(listen: options.listen, directory: folder)
      warnOfOtherMachines()
      announce(server.address)
      let signal = StopSignals.wait(upTo: options.lifetime)
      server.stop()
      return signal.map { 128 + $0 } ?? ExitStatus.ok.code
    } catch {
      return context.console.fail(.io, [Diagnostic("serve.\(error.code.rawValue)", error.message)])
    }
  }

  /// A folder on loopback is for this machine; anything else is for everybody who can reach it.
  private func warnOfOtherMachines() {
    guard !options.listen.isLoopback else { return }
    context.console.report(
      Diagnostic(
        "serve.not-loopback",
        "`\(options.listen.host)` can be reached from other machines, which may read the folder",
        severity: .warning,
        hint: "listen on 127.0.0.1 or [::1] unless that is meant"
      )
    )
  }

  private func announce(_ address: String) {
    if context.shared.isJSON {
      context.console.print(["schema": "prefetch-serve/1", "address": .string(address)])
    } else {
      context.console.print(address)
    }
    context.console.flush()
    guard let descriptor = options.readyDescriptor else { return }
    let ready = StandardOutput(descriptor: Int32(descriptor))
    ready.write(address + "\n")
    _ = ready.flush()
  }
}
