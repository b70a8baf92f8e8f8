import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Packages that `examples/package/run` builds from the program, and the action that installs them.
@Suite("A release", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct PackageTests {
  private let home: Home

  init() throws {
    home = try Home()
  }

  /// A program that needs libraries of Swift is none to give away.
  private static let isPossible: Bool = {
    guard ["dpkg-shlibdeps", "minisign", "curl"].allSatisfy(Tool.isInstalled),
      let home = try? Home()
    else { return false }
    return (try? home.shell("! ldd \"$prefetch\" | grep -q libswift"))?.status == 0
  }()

  @Test(
    "A release is a package, a tarball, a bill of materials and their digests",
    .enabled(
      if: isPossible,
      "needs a release of the program, dpkg-dev, minisign and curl"
    )
  )
  func isMade() throws {
    let made = try home.shell(
      """
      minisign -G -W -p key.pub -s key >/dev/null
      \(RepositoryPage.path("examples/package/run")) --binary "$prefetch" --key key out
      """,
      within: 300
    )
    #expect(made.status == 0, "\(made)")
    #expect(!made.errors.contains("E: "), "lintian has nothing against it: \(made)")
    try digests()
    try package()
    try bill()
    try tarball()
    try installing()
  }

  private func digests() throws {
    let checked = try home.shell(
      "cd out && sha256sum --check --strict SHA256SUMS && minisign -V -p ../key.pub -m SHA256SUMS"
    )
    #expect(checked.status == 0, "\(checked)")
    #expect(checked.lines.count { $0.hasSuffix(": OK") } == 3, "\(checked)")
    #expect(checked.output.contains("expires:"), "\(checked)")
  }

  private func package() throws {
    let needed = try home.shell("dpkg-deb -f out/*.deb Depends").output
    for name in ["libc6", "libcurl4", "libssl3", "libsqlite3-0", "libyaml-0-2", "zlib1g"] {
      #expect(needed.contains("\(name)"), "\(needed)")
    }
    #expect(try home.shell("dpkg-deb -x out/*.deb root").status == 0)
    let units = try home.shell(
      """
      cd root
      gzip -t usr/share/man/man[15]/*.gz usr/share/doc/prefetch/changelog*.gz
      test -s usr/share/bash-completion/completions/prefetch
      test -s usr/share/zsh/vendor-completions/_prefetch
      test -s usr/share/fish/vendor_completions.d/prefetch.fish
      usr/bin/prefetch check -c etc/prefetch/config.yaml
      """
    )
    #expect(units.status == 0, "\(units)")
    let service = home.read("root/lib/systemd/system/prefetch.service") ?? ""
    #expect(
      service.contains(
        "ExecStart=/usr/bin/prefetch run --quiet --config /etc/prefetch/config.yaml\n"
      ),
      "\(service)"
    )
    #expect(service.contains("ProtectHome=yes") && service.contains("CacheDirectory=prefetch\n"))
    #expect(home.read("root/lib/systemd/system/prefetch.timer")?.contains("OnCalendar=") == true)
  }

  /// Checks that every linked library belongs to a package of the bill of materials.
  private func bill() throws {
    let text = try home.shell("cat out/*.cdx.json").output
    let document = try Node(json: text)
    #expect(document.text("bomFormat") == "CycloneDX" && document.text("specVersion") == "1.6")
    let components = document.list("components")
    #expect(components.first?.text("name") == "swift")
    let files = Set(components.flatMap { $0.list("components") }.compactMap { $0.text("name") })
    let named = try home.shell("objdump -p root/usr/bin/prefetch | sed -n 's/^ *NEEDED *//p'")
    #expect(named.lines.count > 8, "\(named)")
    for name in named.lines { #expect(files.contains(String(name)), "\(name): \(files)") }
    // A release holds the library of C++, and a program built for tests loads it.
    #expect(files.contains { $0.hasPrefix("libstdc++.") }, "\(files)")
    let references = Set(components.compactMap { $0.text("bom-ref") })
    let dependencies = document.list("dependencies")
    #expect(dependencies.count == components.count + 1)
    for node in dependencies.flatMap({ $0.list("dependsOn") }) {
      #expect(references.contains(node.text ?? ""), "\(node)")
    }
  }

  private func tarball() throws {
    let unpacked = try home.shell(
      """
      mkdir local && tar -xf out/*.tar.gz -C local --strip-components=1
      cmp local/bin/prefetch root/usr/bin/prefetch
      test -s local/share/man/man1/prefetch.1 -a -s local/share/doc/prefetch/SECURITY.md
      diff <(local/bin/prefetch --version) <("$prefetch" --version)
      """
    )
    #expect(unpacked.status == 0, "\(unpacked)")
  }

  /// Runs the action's script with a substitute for apt that unpacks into a folder.
  private func installing() throws {
    let file = try #require(
      FileTree.names(home.path("out")).first { $0.hasSuffix(".deb") }
    )
    let version = try #require(file.split(separator: "_").dropFirst().first?.dropLast(2))
    let digest = try home.shell("sha256sum out/*.deb").output.prefix(64)
    let key = home.read("key.pub")?.split(separator: "\n").last ?? ""
    let prepared = try home.shell(
      """
      mkdir -p bin releases/v\(version) && cp out/*.deb out/SHA256SUMS* releases/v\(version)/
      printf '#!/bin/sh\\nfor word; do :; done\\ncase $word in *.deb) dpkg-deb -x "$word" "$INSTALLED" ;; esac\\n' >bin/apt-get
      printf '#!/bin/sh\\nexec "$@"\\n' >bin/sudo
      chmod +x bin/*
      minisign -G -W -p other.pub -s other >/dev/null
      """
    )
    #expect(prepared.status == 0, "\(prepared)")
    let origin = try home.start(["serve", "--origin", "releases", "--listen", "127.0.0.1:0"])
    let address = try #require(origin.firstLine())
    let other = home.read("other.pub")?.split(separator: "\n").last ?? ""
    let wrong = String(repeating: "0", count: 64)
    let spoil = "printf x >>releases/v\(version)/\(file)"
    let cases: [(name: String, sha256: String, key: String, before: String, message: String?)] = [
      ("a digest", String(digest), "", "true", nil),
      ("a signature", "", String(key), "true", nil),
      ("both", String(digest), String(key), "true", nil),
      ("no signature", "", "", "true", "give `sha256` or `public-key`"),
      ("another digest", wrong, "", "true", "does not have `sha256`"),
      ("another digest beside a signature", wrong, String(key), "true", "does not have `sha256`"),
      ("another key", "", String(other), "true", "not signed by `public-key`"),
      ("a digest of what was", String(digest), "", spoil, "does not have `sha256`"),
      ("a signature of what was", "", String(key), "true", "not what SHA256SUMS says"),
      (
        "a list of something else", "", String(key),
        "cd releases/v\(version) && mv SHA256SUMS all && grep -v '[.]deb$' all >SHA256SUMS && "
          + "\"$prefetch\" manifest sign SHA256SUMS --key ../../key --expires 1d",
        "does not name"
      ),
    ]
    for (number, row) in cases.enumerated() {
      #expect(try home.shell(row.before).status == 0)
      let installed = home.path("installed-\(number)")
      let run = try home.shell(
        """
        export INSTALLED=\(installed) PATH="$PWD/bin:\(installed)/usr/bin:$PATH"
        export GITHUB_ENV="$PWD/env" GITHUB_OUTPUT="$PWD/output"
        export GITHUB_WORKSPACE=/srv/job PREFETCH_ACTION_VERSION=v\(version)
        export PREFETCH_ACTION_SHA256='\(row.sha256)' PREFETCH_ACTION_PUBLIC_KEY='\(row.key)'
        export PREFETCH_ACTION_RELEASES=\(address)
        rm -f env && \(RepositoryPage.path(".github/actions/prefetch/install"))
        """
      )
      let isThere = FileTree.names(installed).contains("usr")
      guard let message = row.message else {
        #expect(run.status == 0 && isThere, "\(row.name): \(run)")
        let kept = "PREFETCH_CACHE_DIR=/srv/job/.cache/prefetch/cache\n"
        #expect(home.read("env")?.hasPrefix(kept) == true, "\(row.name): \(run)")
        continue
      }
      #expect(run.status == 1 && !isThere, "\(row.name): \(run)")
      #expect(run.output.contains("::error"), "\(row.name): \(run)")
      #expect(run.output.contains(message), "\(row.name): \(run)")
    }
    origin.signal(15)
    _ = origin.finish()
  }
}
