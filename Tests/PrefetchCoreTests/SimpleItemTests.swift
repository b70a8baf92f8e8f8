import Testing

@testable import PrefetchCore

@Suite struct SimpleItemTests {
  private static let urls = ["https://a.example/1", "https://a.example/2", "https://a.example/3"]

  /// Returns the URLs that a run without a list of its items orders as simple items.
  ///
  /// The first request of a run is never one: its response shows whether the clock is right.
  private func ordered(
    partials: [String: PartialBody] = [:],
    seeksLostBodies: Bool = false
  ) throws -> [String] {
    var table = EntryTable([])
    for url in Self.urls { table.appendToColumns(ManifestEntry(url: try WebURL(url))) }
    let segment = SegmentDeclaration(name: "s", source: .inline(Shared(table)))
    let now = Moment(wall: Instant(seconds: 1_700_000_000), uptime: .seconds(100))
    var request = RunRequest(mode: .run, identity: "me", segments: [segment], policy: RunPolicy())
    request.keepsItems = false
    var dispatcher = Dispatcher(
      .init(
        request: request,
        segments: [],
        seeksLostBodies: seeksLostBodies,
        partials: partials,
        now: now,
        seed: 1,
        isBrief: true,
        identify: { $0 }
      )
    )
    var ordered: [String] = []
    var events: [Event] = [.started]
    while let event = events.popLast() {
      var effects: [Effect] = []
      dispatcher.handle(event, now: now, into: &effects)
      dispatcher.advance(now: now, into: &effects)
      for effect in effects {
        switch effect {
        case .readInventory:
          events.append(
            .inventoryRead(.success(InventoryFacts(inventory: Inventory(), missing: [])))
          )
        case .resumePlanning(let segment): events.append(.planningResumed(segment: segment))
        case .prepare(let all):
          events.append(
            .prepared(all.map { Prepared(item: $0.item, stored: nil, adoptedSize: nil) })
          )
        case .startOrder(let id, let order): ordered.append(order.request(id).url.string)
        default: break
        }
      }
    }
    return ordered
  }

  @Test("New items are simple also where bodies of a lost index may be found")
  func newItemsDuringSearchOfLostBodies() throws {
    let others = Array(Self.urls.dropFirst())
    let (usual, seeking) = (try ordered(), try ordered(seeksLostBodies: true))
    #expect(usual == others)
    #expect(seeking == others)
  }

  @Test("Only an item with a kept part is not simple, and the others of its run are")
  func itemWithKeptPart() throws {
    let part = PartialBody(source: Self.urls[1], validator: "\"a\"", offset: 5)
    let ordered = try ordered(partials: [Self.urls[1]: part])
    #expect(ordered == [Self.urls[2]])
  }

  // MARK: What a 304 renews

  private static let date = Instant(seconds: 1_700_000_000)

  private static func block(_ fields: KeyValuePairs<String, String>) -> HeaderBlock {
    HeaderBlock(fields.map { HeaderField($0.key, $0.value) })
  }

  /// Returns the renewed freshness of a body whose headers were stored an hour before the 304.
  private func renewal(
    of stored: KeyValuePairs<String, String>,
    by response: KeyValuePairs<String, String>,
    status: Int = 304
  ) -> Renewal? {
    let headers = Self.block(stored)
    let known = Confirmable(
      headers: headers,
      validators: Validators(headers),
      receivedAt: Self.date + .seconds(-3600)
    )
    return known.renewal(
      by: TransferResponse(status: status, headers: Self.block(response), body: nil),
      at: Freshness.Timing(Self.date)
    )
  }

  @Test("A 304 with the stored lifetime renews the times of a simple item")
  func renewedLifetime() {
    let earlier = HTTPDate.format(Self.date + .seconds(-3600))
    let now = HTTPDate.format(Self.date)
    let expiry = HTTPDate.format(Self.date + .seconds(60))
    let fresh = Freshness.declared(until: Self.date + .seconds(60))
    let byAge = renewal(
      of: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Date": earlier],
      by: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Date": now]
    )
    #expect(byAge?.freshness == fresh && byAge?.headers?.has(.date) == true)
    let byDate = renewal(
      of: ["ETag": "\"a\"", "Expires": earlier, "Date": earlier],
      by: ["ETag": "\"a\"", "Expires": expiry, "Date": now]
    )
    #expect(byDate?.freshness == fresh)
    let kept = renewal(
      of: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Date": earlier],
      by: ["ETag": "\"a\"", "Date": now]
    )
    #expect(kept?.freshness == fresh)
    let aged = renewal(
      of: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Age": "50"],
      by: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Age": "20"]
    )
    #expect(aged?.freshness == .declared(until: Self.date + .seconds(40)))
    let always = renewal(
      of: ["ETag": "\"a\"", "Cache-Control": "no-cache"],
      by: ["ETag": "\"a\"", "Cache-Control": "no-cache"]
    )
    #expect(always?.freshness == .alwaysRevalidate)
  }

  @Test("A 304 that repeats headers without a lifetime leaves the freshness undeclared")
  func repeatedHeaders() {
    let repeated = renewal(of: ["ETag": "\"a\""], by: ["ETag": "\"a\""])
    #expect(repeated?.freshness == .undeclared(until: .distantFuture))
    #expect(repeated != nil && repeated?.headers == nil)
  }

  @Test("A response that changes more than times does not confirm a simple item")
  func changedHeaders() {
    #expect(renewal(of: ["ETag": "\"a\""], by: ["ETag": "\"a\""], status: 200) == nil)
    #expect(renewal(of: ["ETag": "\"a\""], by: ["ETag": "\"b\""]) == nil)
    #expect(renewal(of: ["ETag": "\"a\""], by: ["Cache-Control": "max-age=9"]) == nil)
    #expect(
      renewal(
        of: ["ETag": "\"a\"", "Cache-Control": "max-age=60"],
        by: ["Cache-Control": "max-age=9"]
      ) == nil
    )
    #expect(
      renewal(
        of: ["ETag": "\"a\"", "Cache-Control": "max-age=60"],
        by: ["Last-Modified": HTTPDate.format(Self.date)]
      ) == nil
    )
    #expect(
      renewal(
        of: ["ETag": "\"a\"", "Cache-Control": "max-age=60", "Vary": "Accept"],
        by: ["Cache-Control": "max-age=60"]
      ) == nil
    )
  }
}
