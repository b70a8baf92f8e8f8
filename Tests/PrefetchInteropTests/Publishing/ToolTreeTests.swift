import PrefetchCrypto
import Testing

/// Published trees that other tools use without any network but loopback.
@Suite(
  "A published tree",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: Tool.isInstalled("python3"), "needs python3")
)
struct ToolTreeTests {
  private let home: Home
  private let nginx: Nginx

  init() throws {
    home = try Home()
    nginx = try Nginx()
  }

  /// Whether this user may cut a program's network off.
  static let isCutOffPossible: Bool =
    (try? Home(isInMemory: true, binary: "/bin/true").shell("unshare -n true"))?.status == 0

  /// Fills a segment with this manifest and these keys.
  private func warm(_ layout: String, _ keys: String) throws {
    home.configure(
      """
      segments:
        - name: packages
          \(keys)
          publish: { dir: "tree of ours", layout: \(layout) }
      cache: { min_free: 0 }
      """
    )
    let run = try home.run("--json")
    try #require(run.status == 0, "\(run)")
    #expect(try run.json().text("segments.0.published.dir") == home.path("tree of ours"))
    #expect(try run.json().number("segments.0.published.generation") == 1)
  }

  private func warm(_ layout: String, item name: String) throws {
    nginx.write(Manifest.text([name]), to: "manifest.json")
    try warm(layout, "manifest: \(nginx.url("manifest.json"))")
  }

  private func python(_ script: String) throws {
    home.write(script, to: "make.py")
    let run = try home.shell("cd '\(nginx.files)' && python3 '\(home.path("make.py"))'")
    try #require(run.status == 0, "\(run)")
  }

  @Test(
    "npm installs from a published tree without a network",
    .enabled(if: Tool.isInstalled("npm"), "needs npm"),
    .enabled(if: isCutOffPossible, "needs leave to make namespaces")
  )
  func npm() throws {
    try python(Self.npmPackage)
    let integrity = String(
      decoding: FileTree.read("\(nginx.files)/integrity") ?? [],
      as: UTF8.self
    )
    home.write(
      #"{"name": "demo", "version": "1.0.0", "dependencies": {"left": "1.0.2"}}"#,
      to: "package.json"
    )
    home.write(
      """
      {"name": "demo", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
        "": {"name": "demo", "version": "1.0.0", "dependencies": {"left": "1.0.2"}},
        "node_modules/left": {"version": "1.0.2", "integrity": "\(integrity)",
          "resolved": "https://registry.npmjs.org/left/-/left-1.0.2.tgz"}}}
      """,
      to: "package-lock.json"
    )
    try warm("npm", "manifest: package-lock.json\n    npm: { registry: \"\(nginx.url(""))\" }")
    let run = try home.shell(
      """
      set -e; set -a; eval "$($prefetch env)"; set +a
      unshare -n npm ci --no-audit --no-fund >&2; node -e 'console.log(require("left"))'
      """
    )
    #expect(run.status == 0, "\(run)")
    #expect(run.output == "42\n")
  }

  @Test(
    "pip installs from a published tree without a network",
    .enabled(if: Tool.isInstalled("pip3"), "needs pip"),
    .enabled(if: isCutOffPossible, "needs leave to make namespaces")
  )
  func pip() throws {
    try python(Self.wheel)
    try warm("pip", item: "left-1.0%2Blocal-py3-none-any.whl")
    let run = try home.shell(
      """
      set -e; set -a; eval "$($prefetch env)"; set +a
      unshare -n pip3 install --quiet --target out left >&2; PYTHONPATH=out python3 -c 'import left; print(left.x)'
      """
    )
    #expect(run.status == 0, "\(run)")
    #expect(run.output == "42\n")
  }

  @Test(
    "go downloads and builds from a published tree without a network",
    .enabled(if: Tool.isInstalled("go"), "needs go"),
    .enabled(if: isCutOffPossible, "needs leave to make namespaces")
  )
  func go() throws {
    try python(Self.module)
    let sums = FileTree.read("\(nginx.files)/go.sum") ?? []
    home.write(sums, to: "go.sum")
    try warm("go", "manifest: go.sum\n    go: { proxy: \"\(nginx.url(""))\" }")
    let run = try home.shell(
      """
      set -e; set -a; eval "$($prefetch env)"; GOFLAGS=-modcacherw; set +a
      cp '\(nginx.files)'/go.mod '\(nginx.files)'/go.sum '\(nginx.files)'/main.go .
      unshare -n go mod download >&2; unshare -n go mod verify >&2; unshare -n go run . 2>&1
      """,
      within: 300
    )
    #expect(run.status == 0, "\(run)")
    #expect(run.output == "42\n")
  }

  @Test("A tree for Bazel has archives under their digests, and under their names for a distdir")
  func bazel() throws {
    let digest = Digest.hexadecimal("archive")
    nginx.write("archive", to: "rules-1.0.tar.gz")
    try warm("bazel", item: "rules-1.0.tar.gz")
    let path = "tree of ours/content_addressable/sha256/\(digest)/file"
    #expect(home.read(path) == "archive")
    let variables = try home.run("env")
    #expect(variables.output == "BAZEL_REPOSITORY_CACHE='\(home.path("tree of ours"))'\n")
    #expect(try home.run("--set", "segments.packages.publish.layout=basename").status == 0)
    #expect(home.read("tree of ours/rules-1.0.tar.gz") == "archive")
    #expect(home.read(path) == nil)
  }

  // MARK: Packages

  private static let npmPackage = """
    import base64, hashlib, io, os, tarfile
    body = io.BytesIO()
    archive = tarfile.open(fileobj=body, mode='w:gz')
    for name, text in (('package.json', b'{"name": "left", "version": "1.0.2", "main": "index.js"}'),
                       ('index.js', b'module.exports = 42')):
        entry = tarfile.TarInfo('package/' + name)
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    archive.close()
    os.makedirs('left/-')
    open('left/-/left-1.0.2.tgz', 'wb').write(body.getvalue())
    digest = hashlib.sha512(body.getvalue()).digest()
    open('integrity', 'w').write('sha512-' + base64.b64encode(digest).decode())
    """

  private static let wheel = #"""
    import zipfile
    wheel = zipfile.ZipFile('left-1.0+local-py3-none-any.whl', 'w')
    info = 'left-1.0+local.dist-info/'
    wheel.writestr('left.py', 'x = 42\n')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\nName: left\nVersion: 1.0+local\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
    wheel.writestr(info + 'RECORD', '')
    wheel.close()
    """#

  private static let module = #"""
    import base64, hashlib, os, zipfile
    folder = 'example.com/!left/@v/'
    os.makedirs(folder)
    mod = b'module example.com/Left\n'
    files = {'example.com/Left@v1.0.0/go.mod': mod,
             'example.com/Left@v1.0.0/left.go': b'package left\n\nfunc X() int { return 42 }\n'}
    archive = zipfile.ZipFile(folder + 'v1.0.0.zip', 'w')
    for name, text in files.items():
        archive.writestr(name, text)
    archive.close()
    open(folder + 'v1.0.0.mod', 'wb').write(mod)
    open(folder + 'v1.0.0.info', 'w').write('{"Version": "v1.0.0"}')
    def h1(files):
        lines = ''.join(hashlib.sha256(files[n]).hexdigest() + '  ' + n + '\n' for n in sorted(files))
        return 'h1:' + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()
    open('go.mod', 'w').write('module demo\n\ngo 1.19\n\nrequire example.com/Left v1.0.0\n')
    open('go.sum', 'w').write('example.com/Left v1.0.0 ' + h1(files) + '\n'
                              + 'example.com/Left v1.0.0/go.mod ' + h1({'go.mod': mod}) + '\n')
    open('main.go', 'w').write('package main\n\nimport "example.com/Left"\n\n'
                               'func main() { println(left.X()) }\n')
    """#
}
