import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("A repository of a hub as a list", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct HubTests {
  private static let revision = "\(HubGround.api())/revision/main"

  @Test("A repository is mirrored by its paths, and an unchanged night costs one request")
  func nights() throws {
    let ground = try HubGround()
    let commit = ground.publish()
    let first = try ground.night()
    #expect(first.status == 0, "\(first)")
    let expected = HubGround.files.map { ($0.path, String(decoding: $0.body, as: UTF8.self)) }
    #expect(ground.tree() == Dictionary(uniqueKeysWithValues: expected))
    #expect(
      ground.requests.prefix(2)
        == [Self.revision, "\(HubGround.tree(commit))?recursive=true&expand=false"]
    )
    let second = try ground.night()
    #expect(second.status == 0, "\(second)")
    #expect(ground.requests == [Self.revision])
    // The hub counts downloads in the same document.
    ground.publish()
    let third = try ground.night()
    #expect(third.status == 0, "\(third)")
    #expect(ground.requests == [Self.revision])
    #expect(ground.storage.requests.isEmpty)
  }

  @Test("A revision that moves costs its tree and the files that changed, no large body again")
  func moved() throws {
    let ground = try HubGround()
    ground.publish()
    #expect(try ground.night().status == 0)
    let commit = ground.publish(HubGround.later)
    let run = try ground.night()
    #expect(run.status == 0, "\(run)")
    #expect(ground.tree()["sub dir/tok+.bin"] == "tokens of 2\n")
    #expect(ground.tree()["config.json"] == "{\"layers\": 2}\n")
    #expect(ground.storage.requests.count == 1)
    #expect(!ground.requests.contains(HubGround.path("model.safetensors", commit)))
  }

  @Test("A file that leaves the repository leaves the mirror")
  func vanished() throws {
    let ground = try HubGround()
    ground.publish()
    #expect(try ground.night().status == 0)
    ground.publish(Array(HubGround.files.dropFirst()))
    #expect(try ground.night().status == 0)
    #expect(ground.tree()["config.json"] == nil)
    #expect(ground.tree().count == 3)
  }

  @Test("The pages of a long tree are followed, and not requested again")
  func pages() throws {
    let ground = try HubGround()
    let files = (0..<7).map { HubText.File("f/\($0)", "text \($0)", isLarge: $0 > 3) }
    ground.publish(files, pageSize: 2)
    #expect(try ground.night().status == 0)
    #expect(ground.tree().count == 7)
    #expect(ground.requests.count { $0.contains("/tree/") } == 4)
    let second = try ground.night("--json")
    #expect(second.status == 0, "\(second)")
    #expect(try second.totals()["items"] == 7)
    #expect(ground.requests == [Self.revision])
    ground.publish(files, pageSize: 2)
    #expect(try ground.night().status == 0)
    #expect(ground.requests == [Self.revision])
    #expect(ground.tree().count == 7)
  }

  @Test(
    "Data sets, spaces and revisions have addresses of their own",
    arguments: [("datasets", "v1"), ("spaces", "refs/pr/1")]
  )
  func kinds(kind: String, revision: String) throws {
    let ground = try HubGround()
    let escaped = revision.replacing("/", with: "%2F")
    let commit = ground.publish(HubGround.files, as: escaped, "acme/words", kind: kind)
    let run = try ground.night(address: "hf:\(kind)/acme/words@\(revision)")
    #expect(run.status == 0, "\(run)")
    #expect(ground.tree().count == 4)
    #expect(ground.requests.contains("/\(kind)/acme/words/resolve/\(commit)/config.json"))
  }

  @Test("`include` and `exclude` choose files, and only these are requested")
  func chosen() throws {
    let ground = try HubGround()
    ground.publish()
    ground.declare("include: [\"*.json\", \"*.bin\"]\n    exclude: [\"sub dir/\"]")
    let run = try ground.run("run", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["items"] == 1)
    #expect(ground.storage.requests.isEmpty)
  }

  @Test("The name of a git blob does not satisfy `require_digest`")
  func undigested() throws {
    let ground = try HubGround()
    ground.publish()
    ground.declare("require_digest: true")
    let run = try ground.run("run", "--json")
    #expect(run.status == 3 || run.status == 5, "\(run)")
    #expect(try run.totals()["fetched"] == 2)
  }

  // MARK: Tokens and the endpoint

  @Test("`HF_TOKEN` goes to the hub only, and no output shows it")
  func token() throws {
    var ground = try HubGround()
    ground.publish()
    ground.set("HF_TOKEN", "hf_secret_of_the_test")
    ground.declare()
    let run = try ground.run("run", "--json", "-v")
    #expect(run.status == 0, "\(run)")
    let sent = Set(ground.site.requests.map { $0.headers["Authorization"] })
    #expect(sent == ["Bearer hf_secret_of_the_test"])
    #expect(ground.storage.requests.count == 2)
    #expect(ground.storage.requests.allSatisfy { $0.headers["Authorization"] == nil })
    #expect(!run.output.contains("secret_of") && !run.errors.contains("secret_of"))
    let check = try ground.run("check", "--resolved")
    #expect(!check.output.contains("secret_of"), "\(check)")
  }

  @Test("The configuration decides before the variables of the hub's tools")
  func configured() throws {
    var ground = try HubGround()
    ground.publish()
    ground.set("HF_TOKEN", "hf_secret_of_the_test")
    ground.set("HF_ENDPOINT", "http://127.0.0.1:9")
    ground.declare(
      "hf: { endpoint: \"\(ground.mirror.server.address(""))\" }\n"
        + "    headers: { Authorization: \"Bearer ${env:MY_TOKEN:-mine}\" }"
    )
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    #expect(ground.site.requests.allSatisfy { $0.headers["Authorization"] == "Bearer mine" })
  }

  @Test("An endpoint in the environment that is no URL is a fault of the configuration")
  func spoiltEndpoint() throws {
    var ground = try HubGround()
    ground.set("HF_ENDPOINT", "hub.example")
    ground.declare()
    let run = try ground.run()
    #expect(run.status == 78 && run.errors.contains("`HF_ENDPOINT`"), "\(run)")
  }

  // MARK: Refusals

  @Test(
    "A refusal of the hub says what to do",
    arguments: [
      (401, "GatedRepo", false, "is gated (401); accept its terms", 4),
      (403, "GatedRepo", true, "the account of the token has no access (403)", 77),
      (401, "RepoNotFound", false, "wants a token (401), or has no such repository", 4),
      (401, "RepoNotFound", true, "shows no such repository to this account (401)", 77),
      (401, "", true, "refuses the token (401)", 77),
      (404, "RepoNotFound", false, "shows no such repository to this account (404)", 4),
      (404, "RevisionNotFound", false, "no such revision (404)", 4),
    ]
  )
  func refused(status: Int, code: String, hasToken: Bool, words: String, exit: Int) throws {
    var ground = try HubGround()
    if hasToken { ground.set("HF_TOKEN", "hf_secret_of_the_test") }
    ground.refuse(Self.revision, status, code.isEmpty ? [] : [("X-Error-Code", code)])
    ground.declare()
    let run = try ground.run()
    #expect(run.status == Int32(exit), "\(run)")
    #expect(run.errors.contains(words), "\(run)")
  }

  @Test("A gated file of an open list fails in the hub's words, and the others arrive")
  func gatedFile() throws {
    let ground = try HubGround()
    let commit = ground.publish()
    let path = HubGround.path("model.safetensors", commit)
    ground.refuse(path, 403, [("X-Error-Code", "GatedRepo")])
    let run = try ground.night()
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("is gated (403)"), "\(run)")
    #expect(ground.tree().count == 3)
  }

  @Test("A storage host that refuses is named, and no header is blamed")
  func refusingStorage() throws {
    var ground = try HubGround()
    ground.publish()
    ground.set("HF_TOKEN", "hf_secret_of_the_test")
    for file in HubGround.files where file.isLarge {
      ground.storage["/bucket/\(file.digest)"] = Site.Page([], status: 403)
    }
    let run = try ground.night()
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("the storage of the hub, `127.0.0.2:"), "\(run)")
    #expect(!run.errors.contains("was not sent"), "\(run)")
  }

  @Test(
    "A rate limit defers until its end, and no run asks before",
    arguments: [("RateLimit", "\"api\";r=0;t=3000"), ("Retry-After", "3000")]
  )
  func limited(name: String, value: String) throws {
    let ground = try HubGround()
    ground.refuse(Self.revision, 429, [(name, value)])
    ground.declare()
    let run = try ground.run("run", "--json")
    #expect(run.status == 75, "\(run)")
    #expect(try run.json().text("segments.0.deferred.rule") == "retry_after")
    #expect(try ground.run().status == 75)
    #expect(ground.requests == [])
  }

  @Test("A large file with other bytes than its SHA-256 is refused, and nothing of it is kept")
  func wrongBody() throws {
    let ground = try HubGround()
    ground.publish()
    let file = HubGround.files[2]
    ground.storage["/bucket/\(file.digest)"] = Site.Page(Array("other".utf8))
    let run = try ground.night()
    #expect(run.status == 5, "\(run)")
    #expect(ground.tree()[file.path] == nil)
    #expect(ground.tree().count == 3)
  }

  @Test("A failing revision keeps the last one, and says so")
  func lastRevision() throws {
    let ground = try HubGround()
    ground.publish()
    #expect(try ground.night().status == 0)
    let tree = ground.tree()
    ground.refuse(Self.revision, 404, [("X-Error-Code", "RevisionNotFound")])
    let run = try ground.night()
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.contains("the items of the last list are kept"), "\(run)")
    #expect(ground.tree() == tree)
  }

  // MARK: Commands

  @Test("`init --from` writes a segment of the repository, and `check` accepts it")
  func initial() throws {
    var ground = try HubGround()
    ground.set("HF_ENDPOINT", nil)
    let run = try ground.run("init", "--from", "hf:datasets/acme/words@v1")
    #expect(run.status == 0, "\(run)")
    #expect(ground.home.read("prefetch.yaml")?.contains("name: words") == true)
    #expect(try ground.run("check").status == 0)
    #expect(try ground.run("init", "--from", "hf:words", "-o", "-").status == 64)
  }

  @Test("`manifest check` asks the hub with its token")
  func checked() throws {
    var ground = try HubGround()
    ground.publish()
    ground.set("HF_TOKEN", "hf_secret_of_the_test")
    ground.declare()
    let run = try ground.run("manifest", "check", "hf:\(HubGround.name)")
    #expect(run.status == 0 && run.output.contains("`format: hf`"), "\(run)")
    #expect(ground.requests == [Self.revision])
    #expect(ground.site.requests.first?.headers["Authorization"]?.hasSuffix("test") == true)
  }

  @Test("A frozen repository keeps its commit when the revision moves")
  func frozen() throws {
    let ground = try HubGround()
    ground.publish()
    ground.declare("publish: { dir: dir }")
    #expect(try ground.run().status == 0)
    #expect(try ground.run("freeze").status == 0)
    ground.publish(HubGround.later)
    let run = try ground.run("run", "--frozen")
    #expect(run.status == 0, "\(run)")
    #expect(ground.tree()["config.json"] == "{\"layers\": 1}\n")
  }

  @Test("A template makes the address of a repository from the segment's name")
  func templated() throws {
    let ground = try HubGround()
    ground.publish()
    ground.home.configure(
      "cache: { min_free: 0 }\nmanifests: \"hf:acme/{segment}\"\nsegments: [{ name: tiny }]"
    )
    let run = try ground.run("run", "--json")
    #expect(run.status == 0, "\(run)")
    #expect(try run.totals()["fetched"] == 4)
  }
}
