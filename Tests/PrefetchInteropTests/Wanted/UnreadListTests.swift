import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// Items named by ids of a list that no run has read, or not in its present version.
@Suite("An item of a list that no run has read", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct UnreadListTests {
  private let site = Site()
  private let origin: LoopbackServer
  private let home: Home

  init() throws {
    let site = site
    origin = try LoopbackServer { site.respond(to: $0) }
    home = try Home(isInMemory: true)
    site["/v/1"] = Site.Page("film 1")
    site["/v/2"] = Site.Page("film 2")
    publish(1)
    configure()
  }

  private func publish(_ ids: Int..., digest: String? = nil) {
    let proof = digest.map { ", \"digests\": { \"sha256\": \"\($0)\" }" } ?? ""
    let items = ids.map {
      #"{ "id": "\#($0)", "provider": "tv", "url": "v/\#($0)"\#(proof) }"#
    }
    site["/list.json"] = Site.Page(
      "{ \"format\": \"prefetch-manifest\", \"version\": 1, \"items\": ["
        + items.joined(separator: ", ") + "] }",
      headers: [HeaderField("ETag", "\"\(ids.count)\"")]
    )
  }

  private func configure(_ more: String = "") {
    home.configure(
      """
      network: { retries: { items: 0, lookups: 0 } }
      cache: { min_free: 0 }
      segments: [{ name: s, manifest: "\(origin.address("/list.json"))"\(more) }]
      """
    )
  }

  private var listRequests: [LoopbackRequest] { origin.requests(of: "/list.json") }

  @Test(
    "An item of an unread list is fetched by its name after one request for the list",
    arguments: ["tv/1", "1"]
  )
  func unread(name: String) throws {
    let run = try home.run("get", name)
    #expect(run.status == 0 && run.output == "film 1", "\(run)")
    #expect(listRequests.count == 1 && origin.requests.count == 2)
    // From here on the name is known without a request.
    #expect(try home.run("get", "--offline", name).output == "film 1")
    #expect(listRequests.count == 1)
  }

  @Test("A name is looked up in the current list, which is revalidated by its tag")
  func renewed() throws {
    #expect(try home.run("-q").status == 0)
    publish(1, 2)
    #expect(try home.run("get", "tv/2").output == "film 2")
    #expect(listRequests.map { $0.headers["if-none-match"] } == [nil, "\"1\""])
    // An unchanged list costs a response without a body.
    let unknown = try home.run("get", "tv/3")
    #expect(unknown.status == 4 && unknown.errors.contains("[not_in_manifest]"), "\(unknown)")
    #expect(listRequests.count == 3)
    // A known name needs no list.
    #expect(try home.run("get", "tv/1").output == "film 1")
    #expect(listRequests.count == 3)
    // The next run reads the list independently of the lookup.
    #expect(try home.run("-q").status == 0)
    #expect(try home.run("list", "--json").json().list("items").count == 2)
  }

  @Test("A name is found on a later page, and behind a redirect of the list")
  func pages() throws {
    site["/moved.json"] = Site.Page(
      [],
      headers: [HeaderField("Location", "/p/1.json")],
      status: 302
    )
    site["/p/1.json"] = Site.Page(
      #"{"format":"prefetch-manifest","version":1,"next":"2.json","items":[]}"#
    )
    site["/p/2.json"] = Site.Page(
      #"{"format":"prefetch-manifest","version":1,"items":[{"id":"2","provider":"tv","url":"../v/2"}]}"#
    )
    home.configure(
      "cache: { min_free: 0 }\nsegments: [{ name: s, manifest: \"\(origin.address("/moved.json"))\" }]"
    )
    let run = try home.run("get", "tv/2")
    #expect(run.status == 0 && run.output == "film 2", "\(run)")
    #expect(origin.requests.map(\.path) == ["/moved.json", "/p/1.json", "/p/2.json", "/v/2"])
  }

  @Test("A name is not looked up in a list without a valid signature")
  func unsigned() throws {
    configure(", manifest_keys: [\"RWQBAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJico\"]")
    let run = try home.run("get", "tv/1")
    #expect(run.status == 5 && run.output.isEmpty, "\(run)")
    #expect(origin.requests(of: "/v/1").isEmpty)
  }

  @Test("An item that is fetched by its name must match its list's digest")
  func declared() throws {
    publish(1, digest: Digest.hexadecimal("another film"))
    let run = try home.run("get", "tv/1")
    #expect(run.status == 5 && run.output.isEmpty, "\(run)")
    publish(1, digest: Digest.hexadecimal("film 1"))
    #expect(try home.run("get", "tv/1").output == "film 1")
  }

  @Test("An unknown name costs one request for its list, whatever other names are given")
  func alongside() throws {
    let run = try home.run("get", "-o", "out/", "tv/1", "tv/8", "tv/9", origin.address("/v/2"))
    #expect(run.status == 3, "\(run)")
    #expect(run.errors.matches(of: /\[not_in_manifest\]/).count == 2, "\(run)")
    #expect(listRequests.count == 1)
    #expect(home.read("out/1") == "film 1" && home.read("out/2") == "film 2")
  }

  @Test("A name of an unread list is not looked up offline, with that reason")
  func offline() throws {
    let run = try home.run("get", "--offline", "tv/1")
    #expect(run.status == 4 && run.errors.contains("no run has read the list of `s`"), "\(run)")
    let path = try home.run("path", "tv/1")
    #expect(path.status == 4, "\(path)")
    #expect(origin.requests.isEmpty)
    #expect(try home.run("-q").status == 0)
    let known = try home.run("get", "--offline", "tv/9")
    #expect(known.status == 4 && !known.errors.contains("no run has read"), "\(known)")
  }

  @Test(
    "A name is not found when its list cannot be read, and the failure says why",
    arguments: [(503, 69), (404, 4), (200, 4)]
  )
  func unreadable(status: Int, exit: Int32) throws {
    site["/list.json"] = Site.Page(Array("<html>no list".utf8), status: status)
    let run = try home.run("get", "tv/1")
    #expect(run.status == exit && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("[manifest.unreadable]"), "\(run)")
    #expect(run.errors.contains("[not_in_manifest]"), "\(run)")
  }

  @Test("A name is not looked up where a rule forbids requests for the list")
  func deferred() throws {
    configure(", network: { allow: [wifi] }")
    let run = try home.run("get", "--network", "cellular", "tv/1")
    #expect(run.status == 75, "\(run)")
    #expect(origin.requests.isEmpty)
  }

  @Test("An item of an unread list is fetched through a pulling server")
  func pulled() throws {
    let serving = try Serving(home, "--pull")
    let target = "/-/item/tv/1"
    let response = try serving.client.get(target)
    #expect(response.status == 200 && response.body == "film 1", "\(response)")
    #expect(try serving.client.get(target).status == 200)
    #expect(listRequests.count == 1)
    publish(1, 2)
    // The list was read a moment ago.
    #expect(try serving.client.get("/-/item/tv/2").status == 404)
    #expect(listRequests.count == 1)
    let insistent = try serving.client.get("/-/item/tv/2", ["Cache-Control: no-cache"])
    #expect(insistent.status == 200 && insistent.body == "film 2", "\(insistent)")
    #expect(try serving.client.get("/-/item/tv/2/x").status == 404)
    #expect(
      try serving.client.get("/-/item/tv/3", ["Cache-Control: only-if-cached"]).status == 504
    )
    let silent = try Serving(home)
    #expect(try silent.client.get("/-/item/tv/3").status == 404)
    #expect(listRequests.count == 2)
  }

  @Test("`with-lock` fetches an item of an unread list before its program starts")
  func locked() throws {
    let run = try home.shell(
      "exec $prefetch with-lock tv/1 -- sh -c 'cat \"$($prefetch path tv/1)\"'"
    )
    #expect(run.status == 0 && run.output == "film 1", "\(run)")
    let unknown = try home.run("with-lock", "tv/9", "--", "true")
    #expect(unknown.status == 4 && unknown.errors.contains("[not_in_manifest]"), "\(unknown)")
    #expect(listRequests.count == 2)
    let stored = try home.run("with-lock", "tv/1", "--", "true")
    #expect(stored.status == 0 && listRequests.count == 2, "\(stored)")
    let url = try home.run("with-lock", origin.address("/v/2"), "--", "true")
    #expect(url.status == 4 && url.errors.contains("[item.not-cached]"), "\(url)")
  }
}
