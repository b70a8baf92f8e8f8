import PrefetchCore
import PrefetchCrypto
import PrefetchTestSupport
import PrefetchTransfer
import Testing

@Suite("Writes to a second tier")
struct TierWritingTests {
  private let bench: TierBench

  init() throws {
    bench = try TierBench { $0.mode = .readWrite }
  }

  private var figures: TierFigures { bench.transport?.figures ?? TierFigures(host: "") }

  /// Returns a response whose body is stored on this machine.
  private func stored(_ path: String, _ text: String) -> OriginResponse {
    let response = bench.record(path, text)
    bench.bodies["object \(response.digest.hexadecimal)"] = Array(text.utf8)
    return response
  }

  private func offer(_ responses: OriginResponse...) -> [String] {
    bench.transport?.offer(responses)
    _ = bench.ends()
    return bench.drainRequests()
  }

  private func refuse(_ status: Int, of part: String) {
    bench.conduct = { request in
      guard case .put = request.method, request.url.path.contains(part) else { return nil }
      return .response(status: status, headers: [], body: [])
    }
  }

  @Test("A body is written before its record, and existing ones are not sent again")
  func order() throws {
    let response = stored("/a", "body of a")
    #expect(offer(response) == ["put body", "put record"])
    #expect(bench.store.files[bench.path(of: response.digest)] == Array("body of a".utf8))
    #expect(bench.stored(response.url) == response)
    #expect(figures.written == 1 && figures.writtenBytes == 9)
    #expect(offer(stored("/b", "body of a")) == ["put record"])
    #expect(bench.transport?.isWriting == false)
    // A body that came from the tier is not uploaded again.
    let digest = bench.put("body of c")
    _ = try bench.response(to: bench.lookup("/c", digest))
    _ = bench.drainRequests()
    #expect(offer(stored("/c", "body of c")) == ["put record"])
  }

  @Test("A large body is looked up before it is sent")
  func looks() {
    let text = String(repeating: "large", count: 5_000)
    #expect(offer(stored("/a", text)) == ["look", "put body", "put record"])
    #expect(offer(stored("/b", text)) == ["put record"])
    let other = text + "other"
    _ = bench.put(other)
    #expect(offer(stored("/c", other)) == ["look", "put record"])
    #expect(figures.written == 1)
  }

  @Test("A body without a record is written alone")
  func alone() {
    var response = stored("/a", "body of a")
    response.isBodyAlone = true
    #expect(offer(response) == ["put body"])
  }

  @Test("A server that refuses records gets bodies and is reported once")
  func recordsRefused() {
    refuse(400, of: "/ac/")
    #expect(offer(stored("/a", "body of a"), stored("/b", "body of b")).count == 4)
    #expect(figures.troubles == 2)
    #expect(offer(stored("/c", "body of c")) == ["put body"])
    #expect(figures.written == 3 && figures.troubles == 2)
  }

  @Test("A server that refuses bodies is no longer used", arguments: [403, 405, 507])
  func bodiesRefused(status: Int) {
    refuse(status, of: "/cas/")
    #expect(offer(stored("/a", "body of a")) == ["put body"])
    #expect(figures.troubles == 1 && figures.written == 0)
    #expect(offer(stored("/b", "body of b")) == [])
  }

  @Test("A server in trouble is dropped after some failures, and successes reset them")
  func trouble() {
    refuse(500, of: "/cas/")
    #expect(offer(stored("/a", "a"), stored("/b", "b")) == ["put body", "put body"])
    bench.conduct = { _ in nil }
    #expect(offer(stored("/c", "c")).count == 2)
    refuse(500, of: "/cas/")
    #expect(offer(stored("/d", "d"), stored("/e", "e"), stored("/f", "f")).count == 3)
    #expect(offer(stored("/g", "g")) == [])
  }

  @Test("A body that was removed here in the meantime is not the tier's failure")
  func gone() {
    bench.conduct = { request in
      guard case .put(.file) = request.method else { return nil }
      return .failure(Failure(.notFound, "no such file"))
    }
    #expect(offer(stored("/a", "a")) == ["put body"])
    #expect(figures.troubles == 0 && figures.written == 0)
  }

  @Test("A write that was returned unsent is sent later")
  func givenBack() {
    var count = 0
    bench.conduct = { request in
      guard case .put = request.method else { return nil }
      count += 1
      return count <= 2 ? .notSent : nil
    }
    let requests = offer(stored("/a", "a"))
    #expect(requests == ["put body", "put body", "put body", "put record"])
    #expect(figures.written == 1 && figures.troubles == 0)
  }

  @Test("A few writes start, a limited number waits, and others are dropped and counted")
  func full() throws {
    bench.conduct = { request in if case .put = request.method { .never } else { nil } }
    let response = stored("/a", "body of a")
    bench.transport?.offer([OriginResponse](repeating: response, count: 200_003))
    #expect(bench.drainRequests().count == 8)
    #expect(figures.troubles == 3 && figures.trouble?.code == .tooLarge)
    bench.site["/b"] = Site.Page("body of b")
    let request = try bench.request("/b")
    bench.transport?.start(request)
    let ends = bench.transport?.wait(until: .zero) ?? []
    #expect(ends.count == 1, "requests go on beside them")
  }

  @Test("Nothing is written to a read-only or forbidden tier")
  func reading() throws {
    let reading = try TierBench()
    reading.transport?.offer([reading.record("/a", "a")])
    #expect(reading.drainRequests() == [] && reading.transport?.isWriting == false)
  }
}
