import PrefetchCore
import PrefetchTestSupport
import Testing

/// Package managers with a gate of their own, which must let the same packages pass.
@Suite(
  "Package managers and the gate for their lists take the same packages",
  .enabled(if: Binary.isGiven && FakedProgram.isPossible, "needs faketime")
)
struct AgeToolTests {
  /// Packages and the hours since their release; a week has 168.
  private static let hours: [(name: String, hours: Int64)] = [
    ("aa", 1), ("bb", 90), ("cc", 165), ("dd", 171), ("ee", 400), ("ff", 9000),
  ]
  private static let programs = RepositoryPage.path(".build/gates/bin")

  private static func hasProgram(_ name: String) -> Bool {
    FileTree.exists("\(programs)/\(name)")
  }

  private let ground: AgeGround

  init() throws {
    ground = try AgeGround()
  }

  private var limit: String { Timestamp.format(AgeGround.ago(hours: 168)) }

  /// Packages that a run takes of a list, by the names of their files.
  private func taken(_ list: String, _ rules: String = "") throws -> Set<String> {
    ground.configure(
      """
        - name: files
          manifest: \(list)
          min_age: 7d
          publish: { dir: dir, layout: basename }
          \(rules)
      """
    )
    let run = try ground.run()
    #expect(run.status == 75, "\(run)")
    return Set(FileTree.names(ground.home.path("dir")).map { String($0.prefix(2)) })
  }

  /// Packages for which a line of shell, with the package as `$1`, succeeds.
  private func accepted(_ line: String) throws -> Set<String> {
    var names: Set<String> = []
    for (name, _) in Self.hours {
      let run = try ground.home.shell("set -- \(name); \(line)")
      if run.status == 0 { names.insert(name) }
    }
    return names
  }

  // MARK: Python

  private static let wheels = #"""
    import sys, zipfile
    for name in sys.argv[1:]:
        wheel = zipfile.ZipFile(name + '-1.0-py3-none-any.whl', 'w')
        info = name + '-1.0.dist-info/'
        wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n' % name)
        wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        wheel.writestr(info + 'RECORD', '')
        wheel.close()
    """#

  private func publishWheels() throws {
    try #require(
      ground.home.tool("python3", ["-c", Self.wheels] + Self.hours.map(\.name)).status == 0
    )
    var lines = ""
    for (name, hours) in Self.hours {
      let file = "\(name)-1.0-py3-none-any.whl"
      let bytes = try #require(FileTree.read(ground.home.path(file)))
      ground.site["/files/\(file)"] = Site.Page(bytes, entityTag: "\"\(name)\"")
      ground.site["/simple/\(name)/"] = Site.Page(
        """
        {"meta": {"api-version": "1.1"}, "name": "\(name)", "versions": ["1.0"], "files": [
          {"filename": "\(file)", "size": \(bytes.count), "url": "\(ground.url("/files/\(file)"))",
           "upload-time": "\(Timestamp.format(AgeGround.ago(hours: hours)))",
           "hashes": {"sha256": "\(Digest.hexadecimal(bytes))"}}
        ]}
        """,
        headers: [HeaderField("Content-Type", "application/vnd.pypi.simple.v1+json")]
      )
      lines += "\(name)==1.0 --hash=sha256:\(Digest.hexadecimal(bytes))\n"
    }
    ground.home.write(lines, to: "requirements.txt")
  }

  @Test("pip takes what the gate takes", .enabled(if: hasProgram("pip"), "needs pip 26"))
  func pip() throws {
    try publishWheels()
    let accepted = try accepted(
      """
      \(Self.programs)/pip download -q --no-deps --no-cache-dir --disable-pip-version-check \
        --uploaded-prior-to \(limit) --index-url \(ground.url("/simple")) -d out $1==1.0
      """
    )
    #expect(accepted == ["dd", "ee", "ff"])
    let index = "pip: { index: \"\(ground.url("/simple"))\" }"
    #expect(try taken("requirements.txt", index) == accepted)
  }

  @Test("uv takes what the gate takes", .enabled(if: hasProgram("uv"), "needs uv"))
  func uv() throws {
    try publishWheels()
    let accepted = try accepted(
      """
      echo $1==1.0 | \(Self.programs)/uv pip compile -q --no-cache --exclude-newer \(limit) \
        --index-url \(ground.url("/simple")) - -o $1.txt
      """
    )
    #expect(accepted == ["dd", "ee", "ff"])
    let index = "pip: { index: \"\(ground.url("/simple"))\" }"
    #expect(try taken("requirements.txt", index) == accepted)
  }

  // MARK: JavaScript

  @Test("npm takes what the gate takes", .enabled(if: Tool.isInstalled("npm"), "needs npm"))
  func npm() throws {
    var packages: [String] = []
    for (name, hours) in Self.hours {
      let date = Timestamp.format(AgeGround.ago(hours: hours))
      let tarball = ground.url("/\(name)/-/\(name)-1.0.0.tgz")
      let integrity = "sha256-\(Digest.base64(name))"
      ground.serve(name, at: "/\(name)/-/\(name)-1.0.0.tgz")
      ground.serve(
        """
        {"name": "\(name)", "dist-tags": {"latest": "1.0.0"},
         "time": {"created": "\(date)", "1.0.0": "\(date)"}, "versions": {"1.0.0":
          {"name": "\(name)", "version": "1.0.0",
           "dist": {"tarball": "\(tarball)", "integrity": "\(integrity)"}}}}
        """,
        at: "/\(name)"
      )
      packages.append(
        #""node_modules/\#(name)": {"version": "1.0.0", "resolved": "\#(tarball)", "integrity": "\#(integrity)"}"#
      )
    }
    let accepted = try accepted(
      """
      mkdir $1; cd $1; npm install --silent --package-lock-only --no-audit --no-fund \
        --before \(limit) --registry \(ground.url("/")) $1@1.0.0
      """
    )
    #expect(accepted == ["dd", "ee", "ff"])
    ground.home.write(
      #"{"lockfileVersion": 3, "packages": {\#(packages.joined(separator: ", "))}}"#,
      to: "package-lock.json"
    )
    #expect(try taken("package-lock.json") == accepted)
  }
}
