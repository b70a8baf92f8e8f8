import Testing

@testable import PrefetchCore

@Suite("Requests that a second tier may serve")
struct TierRequestTests {
  private static let now = Instant(seconds: 1_700_000_000)

  private func exchange(_ tierRequest: TierRequest?) throws -> Exchange {
    var exchange = Exchange(url: try WebURL("https://a.example/"))
    exchange.tierRequest = tierRequest
    return exchange
  }

  @Test("A request with a client's identity is not anonymous, with a tier or without")
  func proofs() throws {
    var policy = RunPolicy()
    policy.connections.clients["a.example"] = .init(certificate: "c.pem", key: "k.pem")
    for tierRequest in [nil, TierRequest(granted: [])] {
      var table = ConnectionTable(policy)
      var exchange = try exchange(tierRequest)
      let request = exchange.nextRequest(TransferID(1), under: &table, at: Self.now)
      #expect(!exchange.isAnonymous)
      #expect(request.tierRequest?.granted == nil)
      // The exchange stays so although the other server needs no credentials.
      exchange.chain.hop = try WebURL("https://b.example/")
      _ = exchange.nextRequest(TransferID(2), under: &table, at: Self.now)
      #expect(!exchange.isAnonymous)
    }
    var connections = ConnectionTable(RunPolicy())
    var exchange = try exchange(TierRequest(granted: []))
    let request = exchange.nextRequest(TransferID(1), under: &connections, at: Self.now)
    #expect(exchange.isAnonymous && request.tierRequest?.granted == [])
  }

  @Test("A tier is asked once, also beside a stored part")
  func once() throws {
    var exchange = try exchange(TierRequest(granted: []))
    exchange.part.kept = PartialBody(source: "https://a.example/", validator: "\"a\"", offset: 9)
    #expect(exchange.nextRequest(TransferID(1)).tierRequest != nil)
    exchange.undoRequest()
    #expect(exchange.nextRequest(TransferID(2)).tierRequest != nil)
    exchange.part.kept?.offset = 9 << 20
    let broken = Result<TransferResponse, Failure>.failure(
      Failure(.truncated, "it broke off", isTransient: true)
    )
    _ = exchange.receive(
      TransferResult(broken, figures: TransferFigures(), partial: exchange.partial),
      policy: RunPolicy(),
      now: Moment(wall: Self.now, uptime: .seconds(9)),
      deadline: nil,
      random: 0
    )
    #expect(exchange.nextRequest(TransferID(3)).tierRequest == nil)
  }

  @Test("A tier's response has the provenance of its origin, not of the tier")
  func provenance() {
    var figures = TransferFigures()
    figures.remoteAddress = "10.0.0.7"
    for (originRespondedAt, isFromHere, provenance) in [
      (nil, false, Provenance.local), (Self.now, false, .publicServer), (Self.now, true, .local),
    ] as [(Instant?, Bool, Provenance)] {
      let response = TransferResponse(
        status: 200,
        headers: HeaderBlock(),
        body: nil,
        tierRespondedAt: originRespondedAt,
        originWasLocal: isFromHere
      )
      let result = TransferResult(.success(response), figures: figures)
      #expect(result.provenance(throughProxy: false) == provenance)
    }
  }
}
