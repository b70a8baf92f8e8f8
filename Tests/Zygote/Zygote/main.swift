import CZygote
import Glibc
import PrefetchCLI

/// Fills the tables of options and keys and Swift's type metadata, which the forked copies inherit.
///
/// `folder` holds what these runs leave behind.
private func warmUp(in folder: String) {
  let configuration = "\(folder)/warm.json"
  guard let file = unsafe fopen(configuration, "w") else { return }
  let text = """
    { "segments": [{ "name": "s", "urls": ["http://127.0.0.1:1/"] }],
      "cache": { "min_free": 0 },
      "transport_security": { "NSAllowsArbitraryLoads": true },
      "network": { "retries": { "items": 0, "lookups": 0 } } }
    """
  unsafe fputs(text, file)
  unsafe fclose(file)
  let options = [
    "-q", "--config", configuration, "--cache-dir", "\(folder)/cache", "--state-dir",
    "\(folder)/state",
  ]
  for command in ["run", "run", "plan", "list", "verify"] {
    _ = Program.run(words: ["prefetch", command] + options)
  }
}

/// Prepares the process with its output suppressed.
private func prepare() {
  guard CommandLine.arguments.count == 2 else { return }
  let silence = unsafe open("/dev/null", O_RDWR)
  let streams = [dup(1), dup(2)]
  for stream: CInt in 1...2 { dup2(silence, stream) }
  warmUp(in: CommandLine.arguments[1])
  for stream: CInt in 1...2 { dup2(streams[Int(stream) - 1], stream) }
  // Logs stay open until a program ends.
  for descriptor: CInt in 4..<64 { close(descriptor) }
}

/// Runs the program; variables at the top of this file would belong to the main thread.
private func run(
  _ count: CInt,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  guard let words = unsafe words else { return 70 }
  let list = (0..<Int(count)).map { unsafe words[$0].map { unsafe String(cString: $0) } ?? "" }
  return Program.run(words: list)
}

unsafe zygote_serve(3, prepare, run)
