import PrefetchCore
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
      announce(server.address)
      let signal = StopSignals.wait(upTo: options.lifetime)
      server.stop()
      return signal.map { 128 + $0 } ?? ExitStatus.ok.code
    } catch {
      return context.console.fail(.io, [Diagnostic("serve.\(error.code.rawValue)", error.message)])
    }
  }

  private func announce(_ address: String) {
    context.console.print(address)
    context.console.flush()
    guard let descriptor = options.readyDescriptor else { return }
    let ready = StandardOutput(descriptor: Int32(descriptor))
    ready.write(address + "\n")
    _ = ready.flush()
  }
}
