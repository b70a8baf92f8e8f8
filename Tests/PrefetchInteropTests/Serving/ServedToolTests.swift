import Testing

/// Tools that install through the cache server, and again after the origin has stopped.
@Suite(
  "A pulling mirror",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: Nginx.isInstalled, "needs nginx"),
  .enabled(if: Tool.isInstalled("python3"), "needs python3")
)
struct ServedToolTests {
  private let home: Home

  init() throws {
    home = try Home()
    home.configure("network: { retries: { items: 0, lookups: 0 } }\ncache: { min_free: 0 }")
  }

  /// Runs an install script through a mirror of a server, and once more without the server.
  ///
  /// `$mirror` is the mirror of the server's files, `$root` the mirror of the server's root.
  private func install(_ files: String, _ script: String, prints output: String) throws {
    var nginx: Nginx? = try Nginx()
    let origin = try #require(nginx).url("")
    home.write(files, to: "make.py")
    let folder = try #require(nginx).files
    let made = try home.shell(
      "cd '\(folder)' && ORIGIN='\(origin)' python3 '\(home.path("make.py"))'"
    )
    try #require(made.status == 0, "\(made)")
    let serving = try Serving(home, "--pull", "--max-stale")
    let root = try Serving(home, "--pull", "--max-stale", "--base-url", origin)
    let mirror = serving.address + origin.dropFirst("http://".count)
    for originState in ["there", "cut off"] {
      if originState != "there" { nginx = nil }
      let run = try home.shell(
        """
        set -e; mirror='\(mirror)'; root='\(root.address)'
        rm -rf out node_modules .npm cache lists; mkdir out
        \(script)
        """,
        within: 300
      )
      #expect(run.status == 0 && run.output == output, "\(originState): \(run)")
    }
    for serving in [serving, root] {
      let run = serving.stop()
      #expect(run.status == 143 && run.errorsOfServer.isEmpty, "\(run)")
    }
    #expect(try home.run("verify").status == 0)
  }

  @Test("A pulling mirror serves npm", .enabled(if: Tool.isInstalled("npm"), "needs npm"))
  func npm() throws {
    home.write(
      #"{"name": "demo", "version": "1.0.0", "dependencies": {"left": "^1.0.0", "@us/right": "*"}}"#,
      to: "package.json"
    )
    try install(
      Self.packages,
      """
      npm install --silent --no-audit --no-fund --no-package-lock --cache .npm \
        --replace-registry-host always --registry "$root" >&2
      node -e 'console.log(require("left") + require("@us/right"))'
      """,
      prints: "43\n"
    )
  }

  @Test("A pulling mirror serves pip", .enabled(if: Tool.isInstalled("pip3"), "needs pip"))
  func pip() throws {
    try install(
      Self.wheels,
      """
      pip3 install --quiet --no-cache-dir --disable-pip-version-check --target out \
        --index-url "${mirror}simple" left >&2
      PYTHONPATH=out python3 -c 'import left; print(left.x)'
      """,
      prints: "42\n"
    )
  }

  @Test(
    "A pulling mirror serves apt",
    .enabled(if: Tool.isInstalled("apt-get"), "needs apt"),
    .enabled(if: Tool.isInstalled("dpkg-deb"), "needs dpkg")
  )
  func apt() throws {
    try install(
      Self.archive,
      """
      mkdir -p lists/partial cache/archives/partial; : >status; : >empty
      echo "deb [trusted=yes] ${mirror}debian ./" >sources
      options="-o Dir::State=$PWD -o Dir::State::lists=$PWD/lists -o Dir::State::status=$PWD/status
        -o Dir::Cache=$PWD/cache -o Dir::Etc::SourceList=$PWD/sources -o Dir::Etc::SourceParts=-
        -o Dir::Etc::main=$PWD/empty -o Dir::Etc::parts=- -o Dir::Etc::Preferences=$PWD/empty
        -o Dir::Etc::PreferencesParts=- -o Dir::Etc::TrustedParts=- -o APT::Sandbox::User=root
        -o Acquire::Languages=none -o Debug::NoLocking=1"
      apt-get $options -qq update >&2
      (cd out && apt-get $options -qq download left >&2 && dpkg-deb -x left_1.0_all.deb .)
      cat out/usr/share/left/x
      """,
      prints: "42\n"
    )
  }

  // MARK: What is installed

  private static let packages = """
    import base64, hashlib, io, json, os, tarfile
    origin = os.environ['ORIGIN']
    def publish(name, file, value):
        body = io.BytesIO()
        archive = tarfile.open(fileobj=body, mode='w:gz')
        for path, text in (('package.json', json.dumps({'name': name, 'version': '1.0.2', 'main': 'index.js'})),
                           ('index.js', 'module.exports = %d' % value)):
            entry = tarfile.TarInfo('package/' + path)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
        archive.close()
        os.makedirs(name + '/-')
        open(name + '/-/' + file, 'wb').write(body.getvalue())
        integrity = 'sha512-' + base64.b64encode(hashlib.sha512(body.getvalue()).digest()).decode()
        document = {'name': name, 'dist-tags': {'latest': '1.0.2'}, 'versions': {'1.0.2': {
            'name': name, 'version': '1.0.2', 'main': 'index.js',
            'dist': {'tarball': origin + name + '/-/' + file, 'integrity': integrity}}}}
        open(name + '/index.html', 'w').write(json.dumps(document))
    publish('left', 'left-1.0.2.tgz', 42)
    publish('@us/right', 'right-1.0.2.tgz', 1)
    """

  private static let wheels = """
    import os, zipfile
    os.makedirs('files'); os.makedirs('simple/left')
    name = 'left-1.0-py3-none-any.whl'
    with zipfile.ZipFile('files/' + name, 'w') as wheel:
        wheel.writestr('left.py', 'x = 42')
        wheel.writestr('left-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: left\\nVersion: 1.0\\n')
        wheel.writestr('left-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr('left-1.0.dist-info/RECORD', '')
    open('simple/left/index.html', 'w').write(
        '<!DOCTYPE html><html><body><a href="../../files/%s">%s</a></body></html>' % (name, name))
    """

  private static let archive = """
    import hashlib, os, subprocess
    os.makedirs('debian/tree/DEBIAN'); os.makedirs('debian/tree/usr/share/left')
    control = 'Package: left\\nVersion: 1.0\\nArchitecture: all\\nMaintainer: nobody <a@example.org>\\nDescription: nothing\\n'
    open('debian/tree/DEBIAN/control', 'w').write(control)
    open('debian/tree/usr/share/left/x', 'w').write('42\\n')
    subprocess.check_call(['dpkg-deb', '--root-owner-group', '-b', 'debian/tree', 'debian/left_1.0_all.deb'], stdout=2)
    body = open('debian/left_1.0_all.deb', 'rb').read()
    packages = control + 'Filename: ./left_1.0_all.deb\\nSize: %d\\nSHA256: %s\\n' % (
        len(body), hashlib.sha256(body).hexdigest())
    open('debian/Packages', 'w').write(packages)
    open('debian/Release', 'w').write('Suite: x\\nSHA256:\\n %s %d Packages\\n' % (
        hashlib.sha256(packages.encode()).hexdigest(), len(packages)))
    """
}
