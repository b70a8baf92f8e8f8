import PrefetchCore
import PrefetchTestSupport
import Testing

@Suite("The API of a forge", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ReleaseAPITests {
  private func refuse(_ ground: ForgeGround, _ status: Int, _ fields: [(String, String)]) {
    let headers = fields.map { HeaderField($0.0, $0.1) }
    ground.site[ground.list] = Site.Page([], headers: headers, status: status)
  }

  // MARK: Rate limits

  @Test(
    "A rate limit defers the segment until its end, and no run asks before",
    arguments: [
      (403, "X-RateLimit-Remaining", "X-RateLimit-Reset"),
      (429, "RateLimit-Remaining", "RateLimit-Reset"), (403, "", "Retry-After"),
    ]
  )
  func limited(status: Int, remaining: String, reset: String) throws {
    let ground = try ForgeGround()
    ground.publish([ground.release("1")])
    // With credentials a 403 would otherwise mean that they do not suffice.
    ground.declare("headers: { Authorization: \"Bearer ${env:TOKEN:-secret}\" }")
    let end = reset == "Retry-After" ? "3600" : "\(ForgeGround.now + 3600)"
    refuse(ground, status, (remaining.isEmpty ? [] : [(remaining, "0")]) + [(reset, end)])
    let run = try ground.run("run", "--json")
    #expect(run.status == 75, "\(run)")
    let report = try run.json()
    #expect(report.text("segments.0.deferred.rule") == "retry_after")
    #expect(report.text("exit.next_allowed_at") != nil)
    #expect(ground.requests == [ground.firstPage])
    #expect(try ground.run().status == 75)
    #expect(ground.requests == [])
  }

  @Test("A 403 with requests left means what it means elsewhere")
  func refused() throws {
    let ground = try ForgeGround()
    refuse(ground, 403, [("X-RateLimit-Remaining", "12"), ("X-RateLimit-Reset", "4000000000")])
    ground.declare("headers: { Authorization: \"Bearer ${env:TOKEN:-secret}\" }")
    #expect(try ground.run().status == 77)
    ground.declare()
    #expect(try ground.run().status == 4)
  }

  @Test("A reset in a few seconds is a number of seconds, and far ones end after a day")
  func seconds() throws {
    for (reset, isLong) in [("300", false), ("\(ForgeGround.now + 9_000_000)", true)] {
      let ground = try ForgeGround()
      refuse(ground, 429, [("RateLimit-Remaining", "0"), ("RateLimit-Reset", reset)])
      ground.declare()
      let run = try ground.run("run", "--json")
      #expect(run.status == 75, "\(run)")
      let text = try #require(try run.json().text("exit.next_allowed_at"))
      let until = try #require(Timestamp.parse(text))
      let distance = until.seconds - Int64(ForgeGround.now)
      #expect(distance > (isLong ? 80_000 : 200) && distance <= (isLong ? 86_460 : 360))
    }
  }

  // MARK: Tokens

  /// Publishes a private asset at the API, which redirects to the storage.
  private func publishPrivate(_ ground: ForgeGround) {
    let body = Array("private".utf8)
    let asset = ForgeText.Asset("tool", number: 7, size: 7, digest: Digest.hexadecimal(body))
    ground.publish([.init("v1", [asset])])
    let target = ground.storageServer.address("/bucket/7?signature=x")
    ground.site["/api/repos/acme/tool/assets/7"] = Site.Page(
      [],
      headers: [HeaderField("Location", target)],
      status: 302
    )
    ground.storage["/bucket/7"] = Site.Page("private")
  }

  @Test(
    "A token goes to the API only, and the asset is requested there as bytes",
    arguments: [true, false]
  )
  func token(isOfRule: Bool) throws {
    let ground = try ForgeGround()
    publishPrivate(ground)
    let field = "Authorization: \"Bearer ${env:TOKEN:-secret}\""
    let rule =
      "transport: { rules: [{ match: { url: \"\(ground.base)/**\" }, headers: { \(field) } }] }"
    ground.declare(isOfRule ? "" : "headers: { \(field) }", top: isOfRule ? rule : "")
    let run = try ground.run()
    #expect(run.status == 0, "\(run)")
    #expect(ground.files == ["v1/tool": "private"])
    #expect(ground.requests == [ground.firstPage, "/api/repos/acme/tool/assets/7"])
    #expect(ground.site.requests.allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
    #expect(ground.site.requests.last?.headers["Accept"] == "application/octet-stream")
    let stored = ground.storage.requests
    #expect(stored.map(\.target) == ["/bucket/7?signature=x"])
    #expect(stored.allSatisfy { $0.headers["Authorization"] == nil })
    #expect(stored.allSatisfy { !String(decoding: $0.head, as: UTF8.self).contains("secret") })
    #expect(try ground.run().status == 0)
    #expect(ground.requests == [ground.firstPage])
  }

  @Test("A rate limit that an asset meets at the API defers it, and closes the API")
  func limitedAsset() throws {
    let ground = try ForgeGround()
    publishPrivate(ground)
    let asset = "/api/repos/acme/tool/assets/7"
    ground.site[asset] = Site.Page(
      [],
      headers: [HeaderField("Retry-After", "3600")],
      status: 403
    )
    ground.declare("headers: { Authorization: \"Bearer ${env:TOKEN:-secret}\" }")
    #expect(try ground.run().status == 75)
    #expect(ground.requests == [ground.firstPage, asset])
    #expect(try ground.run().status == 75)
    #expect(ground.requests == [])
  }

  @Test("A renamed private asset gets its new name without a transfer")
  func renamed() throws {
    let ground = try ForgeGround()
    publishPrivate(ground)
    ground.declare("headers: { Authorization: \"Bearer ${env:TOKEN:-secret}\" }")
    #expect(try ground.run().status == 0)
    let digest = Digest.hexadecimal(Array("private".utf8))
    ground.publish([.init("v1", [ForgeText.Asset("kit", number: 7, size: 7, digest: digest)])])
    #expect(try ground.run().status == 0)
    #expect(ground.files == ["v1/kit": "private"])
    #expect(ground.storage.requests.isEmpty)
  }

  @Test("Without a token the address for browsers is requested, with no header of ours")
  func anonymous() throws {
    let ground = try ForgeGround()
    publishPrivate(ground)
    ground.mirror.serve("private", at: "/dl/v1/tool")
    ground.declare()
    #expect(try ground.run().status == 0)
    #expect(ground.requests == [ground.firstPage, "/dl/v1/tool"])
    #expect(ground.site.requests.allSatisfy { $0.headers["Authorization"] == nil })
  }
}
