import PrefetchTestSupport
import Testing

/// A user's machine and the servers that pages mention, under their real names.
///
/// A proxy directs every name to one nginx, whose certificate covers all of them. Commands are run
/// as the page shows them, and no request leaves this machine.
final class PageStage {
  private static let hosts = [
    "*.example.com", "*.example.org", "registry.npmjs.org", "pypi.org", "files.pythonhosted.org",
    "proxy.golang.org", "github.com", "index.crates.io", "static.crates.io", "huggingface.co",
  ]
  /// The user's home folder as pages show it.
  private static let shownHome = "/home/me"
  private static let usualAddress = "127.0.0.1:7733"

  private let home: Home
  /// Port that replaces the usual port of `serve`, which another process may use.
  private let port = LoopbackPort.free()
  private let nginx: Nginx
  private let proxy: TLSServer

  init() throws {
    let ground = try TrustGround.shared.get()
    var home = try Home()
    let names = Self.hosts.map { "DNS:\($0)" }.joined(separator: ",")
    let leaf = try ground.leaf(for: names, by: ground.intermediate)
    let folder = home.folder
    folder.write(leaf.text + ground.intermediate.text, to: "server.pem")
    folder.write(leaf.key.text, to: "server.key")
    var options = Nginx.Options()
    options.certificate = folder.appending("server.pem")
    options.key = folder.appending("server.key")
    options.servesByHost = true
    nginx = try Nginx(options)
    proxy = try TLSServer(TLSServer.Options(.tunnel(to: nginx.port)))
    let path = try #require(home.variables["PATH"])
    FileTree.makeFolder(folder.appending("bin"))
    FileTree.makeFolder(folder.appending("scripts"))
    for (name, script) in PagePackages.scripts { folder.write(script, to: "scripts/\(name)") }
    home.variables = [
      "HOME": home.work,
      "GITHUB_STEP_SUMMARY": folder.appending("summary.md"),
      "LANG": "C.UTF-8",
      "PIP_DISABLE_PIP_VERSION_CHECK": "1",
      "PIP_ROOT_USER_ACTION": "ignore",
      "PREFETCH_LISTEN": "127.0.0.1:\(port)",
      "PATH": "\(folder.appending("bin")):\(path)",
      "TMPDIR": folder.path,
      "TZ": "UTC",
      "https_proxy": "http://127.0.0.1:\(proxy.port)",
      "no_proxy": "127.0.0.1",
      "origin": nginx.files,
      "scripts": folder.appending("scripts"),
      "examples": RepositoryPage.path("examples"),
    ]
    for name in ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT"] {
      home.variables[name] = ground.authorities
    }
    self.home = home
  }

  struct Shown {
    var status: Int
    var lines: [String]
  }

  /// Plays all steps in one shell; returns the exit status and output of each command.
  func play(_ section: DocumentedSection) throws -> (run: ProgramRun, shown: [Shown]) {
    let documentedFolder = home.folder.appending("told")
    FileTree.makeFolder(documentedFolder)
    // A copy instead of a link, since the program prints its own path.
    let program = home.folder.appending("bin/prefetch")
    var script = [
      "ln \"$prefetch\" '\(program)' 2>/dev/null || cp \"$prefetch\" '\(program)'",
      "trap 'kill $(jobs -p) 2>/dev/null' EXIT", "last=0",
    ]
    var count = 0
    for (number, step) in section.steps.enumerated() {
      switch step {
      case .file(let name, let text):
        let draft = "\(documentedFolder)/file-\(number)"
        FileTree.write(Array(text.utf8), to: draft)
        script.append("install -D -m 0644 '\(draft)' '\(name)'")
      case .aside(let text):
        script.append("(set -e\n\(text)\n) || { echo 'play: failed' >&2; exit 1; }")
      case .command(let command):
        let file = "\(documentedFolder)/\(count)"
        count += 1
        let text = command.text.replacing(Self.usualAddress, with: "127.0.0.1:\(port)")
        script.append("{ (exit $last)\n\(text)\n} >\(file) 2>&1 </dev/null; last=$?")
        script.append("echo $last >\(file).status")
        if command.isBackground {
          script.append("for try in {1..1000}; do [ -s \(file) ] && break; sleep 0.01; done")
        }
      }
    }
    let run = try home.shell(script.joined(separator: "\n"), within: 300)
    let shown = (0..<count).map { number in
      let file = "\(documentedFolder)/\(number)"
      let status = FileTree.read("\(file).status").map { String(decoding: $0, as: UTF8.self) } ?? ""
      return Shown(status: Int(status.dropLast()) ?? -1, lines: lines(of: file))
    }
    return (run, shown)
  }

  private func lines(of file: String) -> [String] {
    let text = String(decoding: FileTree.read(file) ?? [], as: UTF8.self)
      .replacing(home.work, with: Self.shownHome)
      .replacing(home.folder.appending("bin/"), with: "/usr/bin/")
      .replacing("127.0.0.1:\(port)", with: Self.usualAddress)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }
}
