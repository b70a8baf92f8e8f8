@unsafe @preconcurrency import Glibc
import PrefetchTestSupport
import Testing

@Suite(
  "A folder that was unpacked elsewhere, with its trees, cache and state",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(if: geteuid() == 0, "needs the right to change users"),
  .enabled(if: ToolTreeTests.isCutOffPossible, "needs leave to make namespaces")
)
struct MovedTreeTests {
  private let home: Home
  private let server: LoopbackServer
  private static let names = ["one", "two", "three"].map { "\($0)-1.0-py3-none-any.whl" }

  init() throws {
    home = try Home()
    server = try LoopbackServer { .respond(200, text: "body of \($0.path)") }
  }

  /// Returns a local list with these names.
  private func list(_ names: [String]) -> String {
    names.map { "\(server.address("/\($0)"))#sha256=\(Digest.hexadecimal("body of /\($0)"))\n" }
      .joined()
  }

  private func declare(link: String, isAtomic: Bool) {
    home.write(list(Self.names), to: "list.txt")
    home.configure(
      """
      name: moving
      segments:
        - name: wheels
          manifest: list.txt
          publish: { dir: "tree of ours", layout: pip, link: \(link), atomic: \(isAtomic) }
      cache: { min_free: 0, dir: .cache/prefetch }
      state: { dir: .cache/state }
      """
    )
  }

  /// Copies the working folder for another user, who runs the script there.
  private func elsewhere(_ script: String) throws -> ProgramRun {
    home.write(script, to: "../script")
    return try home.shell(
      """
      set -e; cd ..; mkdir -p elsewhere; chmod 755 .
      chown 65534:65534 elsewhere
      export HOME=$PWD/elsewhere; unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_STATE_HOME
      as() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
      if [ ! -e elsewhere/prefetch.yaml ]; then tar -C work -cf - . | as tar -C elsewhere -xf -; fi
      cd elsewhere; as bash -e ../script
      """
    )
  }

  @Test(
    "A moved tree works with `env` and `verify`, also read-only, and follows its list",
    arguments: ["copy", "hardlink"],
    [false, true]
  )
  func unpacked(link: String, isAtomic: Bool) throws {
    declare(link: link, isAtomic: isAtomic)
    let run = try home.run()
    try #require(run.status == 0, "\(run)")
    let requests = server.requests.count
    let moved = home.path("../elsewhere").replacing("/work/..", with: "")
    let looked = try elsewhere(
      """
      unshare -rm bash -ec '
        mount --bind "$PWD" "$PWD"; mount -o remount,ro,bind "$PWD"; cd "$PWD"
        ! touch x 2>/dev/null
        "$prefetch" env --strict; "$prefetch" verify >&2'
      """
    )
    #expect(looked.status == 0, "\(looked)")
    #expect(
      looked.output.contains("PIP_FIND_LINKS=file://\(moved)/tree%20of%20ours\n"),
      "\(looked)"
    )
    FileTree.write(Array(list(Array(Self.names.dropLast())).utf8), to: "\(moved)/list.txt")
    let renewed = try elsewhere(
      """
      "$prefetch" verify >&2; "$prefetch" run >&2; "$prefetch" verify >&2; "$prefetch" run >&2
      ls "tree of ours"
      """
    )
    #expect(renewed.status == 0, "\(renewed)")
    #expect(renewed.lines.map(String.init) == Self.names.dropLast().sorted(), "\(renewed)")
    #expect(!renewed.errors.contains("[publish."), "\(renewed)")
    #expect(server.requests.count == requests)
    #expect(FileTree.names(home.path("tree of ours")).sorted() == Self.names.sorted())
  }

  @Test("A foreign file in a moved tree is neither adopted nor removed")
  func foreign() throws {
    declare(link: "copy", isAtomic: false)
    try #require(home.run().status == 0)
    let last = Self.names[2]
    let changed = try elsewhere("printf foreign >'tree of ours/\(last)'; \"$prefetch\" verify")
    #expect(changed.status == 74, "\(changed)")
    let moved = home.path("../elsewhere")
    FileTree.write(Array(list(Array(Self.names.dropLast())).utf8), to: "\(moved)/list.txt")
    let run = try elsewhere("\"$prefetch\" run >&2; ls 'tree of ours'")
    #expect(run.status == 0, "\(run)")
    #expect(run.lines.map(String.init) == Self.names.sorted())
  }

  @Test(
    "`env --strict` withholds a moved tree until its missing file is back",
    arguments: ["copy", "hardlink"],
    [false, true]
  )
  func mended(link: String, isAtomic: Bool) throws {
    declare(link: link, isAtomic: isAtomic)
    try #require(home.run().status == 0)
    let requests = server.requests.count
    let run = try elsewhere(
      """
      rm 'tree of ours/\(Self.names[0])'
      ! "$prefetch" env --strict
      "$prefetch" status --nagios >&2 || test $? = 1
      "$prefetch" run >&2; "$prefetch" env --strict
      """
    )
    #expect(run.status == 0, "\(run)")
    #expect(run.lines.count { $0.hasPrefix("PIP_FIND_LINKS=") } == 1, "\(run)")
    #expect(run.errors.contains("published files: 1 missing"), "\(run)")
    #expect(server.requests.count == requests)
  }

  @Test("`env` names a moved tree with a missing file")
  func incomplete() throws {
    declare(link: "copy", isAtomic: false)
    try #require(home.run().status == 0)
    let run = try elsewhere(
      "rm 'tree of ours/\(Self.names[0])'; \"$prefetch\" env --strict || test $? = 4"
    )
    #expect(run.status == 0 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("/elsewhere/tree of ours` is missing"), "\(run)")
  }
}
