import PrefetchCore
import PrefetchTestSupport
import Testing

@testable import PrefetchTransfer

@Suite("Queued requests and requests in flight", .timeLimit(.minutes(10)))
struct WireLimitTests {
  @Test(
    "At most the limit of requests is in flight, however many are handed over",
    arguments: [1, 2, 3]
  )
  func limits(workers: Int) throws {
    let servers = try (1...3).map { number in
      try LoopbackServer(number: UInt8(number)) { _ in
        Script([.wait(.milliseconds(1))] + Script.respond(200, text: "x").steps)
      }
    }
    let bench = try TransferBench { settings in
      settings.workers = workers
      settings.connectionsPerHost = 4
    }
    let urls = try servers.map { try $0.url() }
    let results = try bench.results(of: (0..<180).map { bench.request(urls[$0 % 3]) })
    #expect(results.values.allSatisfy { (try? $0.outcome.get().status) == 200 })
    for server in servers {
      #expect(server.requests.count == 60)
      #expect(server.peakRequestCount <= 4)
      #expect(server.peakConnectionCount <= 4)
    }
  }

  @Test("All hosts together keep to the total limit", arguments: [1, 2, 5])
  func whole(concurrency: Int) throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      Script([.pause(gate)] + Script.respond(200, text: "x").steps)
    }
    let bench = try TransferBench { settings in
      settings.workers = 2
      settings.connectionsPerHost = 4
      settings.concurrency = concurrency
    }
    // Two names of one server, whose limit counts for both.
    let urls = [try server.url(), try WebURL("http://localhost:\(server.port)/")]
    var pauses = 0
    let results = try bench.results(of: (0..<80).map { bench.request(urls[$0 % 2]) }) {
      guard server.requests.count >= concurrency, pauses < 3 else { return }
      pauses += 1
      guard pauses == 3 else { return }
      #expect(server.requests.count == concurrency)
      gate.open()
    }
    #expect(results.values.allSatisfy { (try? $0.outcome.get().status) == 200 })
    #expect(server.requests.count == 80)
    #expect(pauses == 3)
  }

  @Test(
    "After trouble nothing more is sent, and unsent requests are returned",
    arguments: [408, 425, 429, 500, 503],
    [1, 2]
  )
  func trouble(status: Int, workers: Int) throws {
    let server = try LoopbackServer { _ in .respond(status, [("Retry-After", "60")]) }
    let bench = try TransferBench { settings in
      settings.workers = workers
      settings.connectionsPerHost = 4
    }
    let url = try server.url()
    let results = try bench.results(of: (0..<40).map { _ in bench.request(url) })
    let unsent = results.values.filter(\.wasNotSent)
    // Every connection may have sent one request by then.
    #expect(server.requests.count <= 4)
    #expect(unsent.count == 40 - server.requests.count)
    // A caller that knows of the trouble may send another request.
    let again = try bench.result(of: bench.request(url))
    #expect(try again.outcome.get().status == status)
    #expect(!again.wasNotSent)
  }

  @Test("The trouble of one host does not stop others")
  func otherHosts() throws {
    let busy = try LoopbackServer(number: 1) { _ in .respond(503) }
    let fine = try LoopbackServer(number: 2) { _ in .respond(200, text: "x") }
    let bench = try TransferBench()
    let urls = [try busy.url(), try fine.url()]
    let requests = (0..<60).map { bench.request(urls[$0 % 2]) }
    let results = try bench.results(of: requests)
    for request in requests where request.url == urls[1] {
      #expect(try results[request.id]?.outcome.get().status == 200)
    }
    #expect(busy.requests.count <= 4)
  }

  @Test("A cancelled request reports whether it was sent")
  func cancelled() throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in
      Script([.pause(gate)] + Script.respond(200, text: "x").steps)
    }
    let bench = try TransferBench { $0.connectionsPerHost = 1 }
    let url = try server.url()
    let requests = (0..<3).map { _ in bench.request(url) }
    var hasCancelled = false
    let results = try bench.results(of: requests) {
      guard !hasCancelled, server.requests.count == 1 else { return }
      hasCancelled = true
      for request in requests { bench.transport.cancel(request.id) }
    }
    #expect(server.requests.count == 1)
    #expect(requests.map { results[$0.id]?.wasNotSent } == [false, true, true])
    gate.open()
  }

  @Test("A worker may use the unused slots of another one, but never its own share")
  func shares() {
    var slots = WireSlots(limit: 4, workers: 2)
    for _ in 0..<4 { #expect(slots.acquire(0, host: 0, knowing: 0) == .granted) }
    #expect(slots.acquire(1, host: 1, knowing: 0) == .full)
    #expect(slots.nextWaiting(except: 0) == nil)
    slots.giveBack(0, host: 0)
    #expect(slots.acquire(0, host: 0, knowing: 0) == .full)
    #expect(slots.nextWaiting(except: 0) == 1)
    #expect(slots.acquire(1, host: 1, knowing: 0) == .granted)
    slots.recordTrouble(of: 1)
    slots.giveBack(0, host: 0)
    #expect(slots.acquire(1, host: 1, knowing: 0) == .outdated)
    #expect(slots.acquire(1, host: 1, knowing: 1) == .granted)
  }

  @Test("Each worker has its share of a host's window, and none of another host's")
  func window() {
    var slots = WireSlots(limit: 32, workers: 2, connectionsPerHost: 16, findsConnections: true)
    for worker in 0...1 {
      for _ in 0..<2 { #expect(slots.acquire(worker, host: 0, knowing: 0) == .granted) }
      #expect(slots.acquire(worker, host: 0, knowing: 0) == .hostFull)
      #expect(slots.acquire(worker, host: 0, knowing: 0, isStream: true) == .granted)
      #expect(slots.acquire(worker, host: 1, knowing: 0) == .granted)
    }
    slots.giveBack(1, host: 0)
    #expect(slots.acquire(0, host: 0, knowing: 0) == .hostFull)
  }

  @Test("Open connections keep to the window of a host nearby", arguments: [1, 2])
  func nearby(workers: Int) throws {
    let server = try LoopbackServer { _ in .respond(200, text: "x") }
    let bench = try TransferBench { settings in
      settings.workers = workers
      settings.connectionsPerHost = 16
      settings.findsConnections = true
    }
    let url = try server.url()
    let results = try bench.results(of: (0..<400).map { _ in bench.request(url) })
    #expect(results.values.allSatisfy { (try? $0.outcome.get().status) == 200 })
    #expect(server.peakConnectionCount <= ConnectionWindow.nearLimit)
  }

  @Test("A worker that looks first leaves slots to the workers that were called")
  func calls() {
    var slots = WireSlots(limit: 4, workers: 2)
    for worker in 0...1 { slots.call(worker) }
    for _ in 0..<2 { #expect(slots.acquire(0, host: 0, knowing: 0) == .granted) }
    #expect(slots.acquire(0, host: 0, knowing: 0) == .full)
    #expect(slots.acquire(1, host: 1, knowing: 0) == .granted)
    slots.clearCall(1)
    #expect(slots.nextWaiting(except: 1) == 0)
    #expect(slots.acquire(0, host: 0, knowing: 0) == .granted)
    #expect(slots.acquire(0, host: 0, knowing: 0) == .full)
  }
}
