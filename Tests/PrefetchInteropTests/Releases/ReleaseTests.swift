import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("Releases of a forge as a list", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReleaseTests {
  @Test(
    "The newest release is mirrored below its tag, and the next night costs one request",
    arguments: [ForgeText.github, .forgejo]
  )
  func nights(forge: ForgeText) throws {
    let ground = try ForgeGround(forge)
    var draft = ground.release("9", on: "2026-09-01")
    draft.isDraft = true
    var early = ground.release("3", on: "2026-08-01")
    early.isPrerelease = true
    ground.publish([draft, early, ground.release("1", on: "2026-01-01"), ground.release("2")])
    let first = try ground.night()
    #expect(first.status == 0, "\(first)")
    #expect(ground.files["v2/tool-2.gz"] == "tool 2")
    #expect(ground.files.keys.allSatisfy { $0.hasPrefix("v2/") })
    #expect(ground.requests.first == ground.firstPage)
    let second = try ground.night()
    #expect(second.status == 0, "\(second)")
    #expect(ground.requests == [ground.firstPage])
    ground.publish([ground.release("2"), ground.release("4", on: "2026-04-01")])
    #expect(try ground.night().status == 0)
    #expect(ground.files["v4/tool-4.gz"] == "tool 4")
    #expect(ground.files.keys.allSatisfy { $0.hasPrefix("v4/") })
  }

  @Test("A project of GitLab is mirrored, and its links are revalidated")
  func gitlab() throws {
    let ground = try ForgeGround(.gitlab)
    var upcoming = ground.release("9", on: "2026-09-01")
    upcoming.isDraft = true
    ground.publish([upcoming, ground.release("2")])
    #expect(try ground.night().status == 0)
    #expect(ground.files["v2/tool-2.gz"] == "tool 2")
    let second = try ground.night("--json")
    #expect(second.status == 0, "\(second)")
    #expect(try second.totals()["fetched"] == 0)
    // The checksum list has no digest of its own.
    #expect(Set(ground.requests) == [ground.firstPage, "/dl/v2/SHA256SUMS"])
  }

  @Test("A tag names one release, also a prerelease", arguments: ForgeText.allCases)
  func tagged(forge: ForgeText) throws {
    let ground = try ForgeGround(forge)
    var release = ground.release("3")
    release.isPrerelease = true
    release.tag = "kit/v3"
    for asset in release.assets {
      ground.site["/dl/kit/v3/\(asset.name)"] = ground.site["/dl/v3/\(asset.name)"]
    }
    ground.publish(single: release, at: forge == .gitlab ? "/kit%2Fv3" : "/tags/kit%2Fv3")
    let run = try ground.night(tag: "kit/v3")
    #expect(run.status == 0, "\(run)")
    #expect(ground.files["kit/v3/tool-3.gz"] == "tool 3")
  }

  @Test("`select` takes the newest versions of all releases, and does not go back")
  func selected() throws {
    let ground = try ForgeGround()
    ground.publish([ground.release("1.9"), ground.release("1.10"), ground.release("1.8")])
    let words = ["--select", "tool-@v.gz", "--newest", "2"]
    func night() throws -> ProgramRun { try ground.night(words[0], words[1], words[2], words[3]) }
    #expect(try night().status == 0)
    #expect(ground.files.keys.sorted() == ["v1.10/tool-1.10.gz", "v1.9/tool-1.9.gz"])
    ground.publish([ground.release("1.11"), ground.release("1.10"), ground.release("1.9")])
    #expect(try night().status == 0)
    #expect(ground.files.keys.sorted() == ["v1.10/tool-1.10.gz", "v1.11/tool-1.11.gz"])
    ground.publish([ground.release("1.10"), ground.release("1.9"), ground.release("1.8")])
    let back = try night()
    #expect(back.status == 3 && back.errors.contains("`--allow rollback`"), "\(back)")
  }

  @Test("A pattern with a slash has the version in the tag")
  func pathPattern() throws {
    let ground = try ForgeGround()
    let releases = ["1.9", "1.10"].map { version in
      ForgeText.Release(
        "v\(version)",
        ["linux", "mac"].map { system in
          ground.asset("tool-\(system).tar.gz", in: "v\(version)", "\(system) \(version)")
        }
      )
    }
    ground.publish(releases)
    #expect(try ground.night("--select", "v@v/tool-@*.tar.gz").status == 0)
    #expect(
      ground.files == [
        "v1.10/tool-linux.tar.gz": "linux 1.10", "v1.10/tool-mac.tar.gz": "mac 1.10",
      ]
    )
  }

  // MARK: Pages

  @Test(
    "The pages of the header `Link` are followed, each conditionally",
    arguments: [true, false]
  )
  func pages(repeatsLink: Bool) throws {
    let ground = try ForgeGround()
    let second = "/api/repositories/7/releases?per_page=50&page=2"
    let link = [HeaderField("Link", "<\(second)>; rel=\"next\", <\(second)>; rel=\"last\"")]
    ground.publish([ground.release("1.2")], headers: link)
    ground.publish([ground.release("1.1")], at: second)
    let words = ["--select", "tool-@v.gz", "--newest", "5"]
    func night() throws -> ProgramRun { try ground.night(words[0], words[1], words[2], words[3]) }
    #expect(try night().status == 0)
    #expect(ground.files.count == 2)
    // A 304 need not repeat the link.
    if !repeatsLink { ground.publish([ground.release("1.2")]) }
    let again = try ground.night(words[0], words[1], words[2], words[3], "--json")
    #expect(again.status == 0, "\(again)")
    #expect(try again.totals()["not_modified"] == 2)
    #expect(ground.requests == [ground.firstPage, second])
    #expect(ground.files.count == 2)
  }

  @Test("A project that moved is followed on the same server, and each night conditionally")
  func moved() throws {
    let ground = try ForgeGround()
    ground.publish([ground.release("2")], at: "/api/repositories/7/releases?per_page=50")
    ground.site[ground.list] = Site.Page(
      [],
      headers: [HeaderField("Location", "/api/repositories/7/releases?per_page=50")],
      status: 301
    )
    #expect(try ground.night().status == 0)
    #expect(ground.files["v2/tool-2.gz"] == "tool 2")
    let second = try ground.night("--json")
    #expect(second.status == 0, "\(second)")
    #expect(try second.totals()["not_modified"] == 1)
    #expect(try second.totals()["requests"] == 2)
  }

  @Test("A project that is not there is named with what may be wrong")
  func missing() throws {
    let run = try ForgeGround().night()
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("or give a token if it is private"), "\(run)")
  }

  @Test("`get -` takes releases from standard input without their checksum lists")
  func piped() throws {
    let ground = try ForgeGround(.forgejo)
    ground.publish([ground.release("1")])
    let list = String(decoding: ground.site[ground.list]?.body ?? [], as: UTF8.self)
    let run = try ground.home.start(
      ["get", "-", "-o", "out/", "--set", "transport_security.NSAllowsLocalNetworking=true"]
        + ["--set", "cache.min_free=0"],
      input: list
    ).finish()
    #expect(run.status == 0, "\(run)")
    #expect(ground.home.read("out/v1/tool-1.gz") == "tool 1")
  }

  @Test("Without a link a full page is followed by the next number")
  func fullPage() throws {
    let ground = try ForgeGround(.forgejo)
    var releases = (1...50).map { ForgeText.Release("w\($0)", on: "2026-01-01", []) }
    for index in releases.indices { releases[index].isPrerelease = true }
    ground.publish(releases)
    ground.publish([ground.release("2")], at: "\(ground.firstPage)&page=2")
    let run = try ground.night()
    #expect(run.status == 0, "\(run)")
    #expect(ground.files["v2/tool-2.gz"] == "tool 2")
  }

  @Test("A next page on another server is not requested, and the list is refused")
  func foreignPage() throws {
    let ground = try ForgeGround()
    let link = "<\(ground.storageServer.address("/releases?page=2"))>; rel=\"next\""
    ground.publish([ground.release("1.2")], headers: [HeaderField("Link", link)])
    let run = try ground.night("--select", "tool-@v.gz")
    #expect(run.status == 4, "\(run)")
    #expect(run.errors.contains("its next page is on another server"), "\(run)")
    #expect(ground.storageServer.requests.isEmpty)
  }

  // MARK: Changes

  @Test("A renamed asset replaces the old name")
  func renamed() throws {
    let ground = try ForgeGround()
    ground.publish([.init("v1", [ground.asset("old.gz", in: "v1", "body")])])
    #expect(try ground.night().status == 0)
    ground.publish([.init("v1", [ground.asset("new.gz", in: "v1", "body")])])
    #expect(try ground.night().status == 0)
    #expect(ground.files == ["v1/new.gz": "body"])
    // The body is here already.
    #expect(ground.requests == [ground.firstPage])
  }

  @Test("A replaced asset is an update, with a digest or without", arguments: [true, false])
  func replaced(isPinned: Bool) throws {
    let ground = try ForgeGround()
    ground.publish([.init("v1", [ground.asset("tool", in: "v1", "one", isPinned: isPinned)])])
    #expect(try ground.night().status == 0)
    var asset = ground.asset("tool", in: "v1", "two", isPinned: isPinned)
    asset.changed = "2026-04-01T10:00:00Z"
    ground.publish([.init("v1", [asset])])
    let run = try ground.night("--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["updated"] == 1)
    #expect(ground.files == ["v1/tool": "two"])
    #expect(try ground.night().status == 0)
    #expect(ground.requests == [ground.firstPage])
  }

  // MARK: Checksums

  @Test("A checksum list among the assets gives the digests that they must have")
  func joined() throws {
    let ground = try ForgeGround(.forgejo)
    ground.publish([ground.release("1")])
    ground.declare("require_digest: true\n    exclude: [SHA256SUMS]")
    #expect(try ground.run().status == 0)
    #expect(ground.files == ["v1/tool-1.gz": "tool 1"])
    #expect(ground.requests.count == 3)
    var release = ground.release("2")
    release.assets[0].number = 9
    ground.publish([release])
    ground.mirror.serve("fool 2", at: "/dl/v2/tool-2.gz")
    let wrong = try ground.run()
    #expect(wrong.status == 5, "\(wrong)")
    #expect(wrong.errors.contains("digest_mismatch"), "\(wrong)")
    #expect(ground.files == ["v1/tool-1.gz": "tool 1"])
  }

  @Test("A checksum list that does not come loses no release")
  func lostSums() throws {
    let ground = try ForgeGround(.forgejo)
    ground.publish([ground.release("1")])
    ground.site["/dl/v1/SHA256SUMS"] = Site.Page([], status: 500)
    ground.declare("exclude: [SHA256SUMS]")
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("the assets of its release are taken without it"), "\(run)")
    #expect(ground.files == ["v1/tool-1.gz": "tool 1"])
    let next = try ground.run()
    #expect(next.status == 0, "\(next)")
    #expect(ground.requests == [ground.firstPage, "/dl/v1/SHA256SUMS"])
    ground.declare("exclude: [SHA256SUMS]\n    require_digest: true")
    let strict = try ground.run()
    #expect(strict.status == 4 || strict.status == 3, "\(strict)")
  }

  @Test("A checksum list that is not the one of the release is not believed")
  func forgedSums() throws {
    let ground = try ForgeGround()
    let tool = ground.asset("tool", in: "v1", "tool", isPinned: false)
    let sums = ground.asset("SHA256SUMS", in: "v1", number: 2, "good")
    ground.publish([.init("v1", [tool, sums])])
    ground.mirror.serve(
      "\(String(repeating: "ab", count: 32))  tool\n",
      at: "/dl/v1/SHA256SUMS"
    )
    ground.declare("exclude: [SHA256SUMS]")
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    #expect(run.errors.contains("but the release declares"), "\(run)")
    #expect(ground.files == ["v1/tool": "tool"])
  }

  // MARK: Words

  @Test("A wrong short address is refused, and the message shows the right form")
  func wrongForms() throws {
    let ground = try ForgeGround()
    for (text, form) in [
      ("github:acme", "github:OWNER/REPO"), ("gitlab:acme", "gitlab:GROUP/PROJECT"),
      ("forgejo:acme/tool", "forgejo:HOST/OWNER/REPO"),
    ] {
      for words in [
        ["mirror", text, "dir"], ["manifest", "check", text], ["init", "--from", text],
      ] {
        let run = try ground.home.start(words).finish()
        #expect(run.status == 64 && run.errors.contains("write `\(form)`"), "\(run)")
      }
      ground.home.configure("segments: [{ name: a, manifest: \"\(text)\" }]")
      let check = try ground.home.run("check")
      #expect(check.status == 78 && check.errors.contains("write `\(form)`"), "\(check)")
    }
  }

  @Test("`init`, `check`, `config` and `manifest check` take a short address")
  func commands() throws {
    let ground = try ForgeGround()
    ground.publish([ground.release("1"), ground.release("2", on: "2026-04-01")])
    let written = try ground.home.run("init", "--from", "github:acme/tool")
    #expect(written.status == 0, "\(written)")
    #expect(ground.home.read("prefetch.yaml")?.contains("manifest: \"github:acme/tool\"") == true)
    #expect(try ground.home.run("check").status == 0)
    let check = try ground.home.start(
      ["manifest", "check", "github:acme/tool", "--set", "defaults.api=\(ground.base)"]
        + ["--set", "transport_security.NSAllowsLocalNetworking=true"]
    ).finish()
    #expect(check.status == 0 && check.output.contains("items:     1"), "\(check)")
    ground.home.configure(
      "manifests: \"github:acme/{segment}\"\ndefaults: { api: \"\(ground.base)\" }\n"
        + "cache: { min_free: 0 }\nsegments: [tool]"
    )
    let config = try ground.home.run("config", "--json")
    #expect(config.output.contains("\"github:acme/tool\""), "\(config)")
    #expect(try ground.home.run("run").status == 0)
    let plan = try ground.home.run("plan")
    #expect(plan.status == 0 && plan.errors.contains("1 kept"), "\(plan)")
    ground.home.configure("segments: [{ name: a, manifest: \"github:a/b\", format: list }]")
    #expect(try ground.home.run("check").status == 78)
  }

  @Test("A list under its own address is recognised, and follows the same rule")
  func plainAddress() throws {
    let ground = try ForgeGround()
    ground.publish([ground.release("1"), ground.release("2", on: "2026-04-01")])
    let url = ground.mirror.server.address(ground.list)
    #expect(try ground.mirror.mirror([url, "dir"]).status == 0)
    #expect(ground.files == ["v2/tool-2.gz": "tool 2"])
    let words = [url, "declared", "--set", "defaults.format=releases"]
    #expect(try ground.mirror.mirror(words).status == 0)
    #expect(ground.mirror.files("declared") == ["v2/tool-2.gz": "tool 2"])
  }
}
