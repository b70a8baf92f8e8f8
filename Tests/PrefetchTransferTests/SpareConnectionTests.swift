import PrefetchCore
import Testing

@testable import PrefetchTransfer

@Suite("Connections for ranges of a body")
struct SpareConnectionTests {
  private func expectSpare(
    _ isExpected: Bool,
    _ slots: inout WireSlots,
    host: Int = 0,
    knowing known: Int = 0,
    _ location: Testing.SourceLocation = #_sourceLocation
  ) {
    let isGranted = slots.acquireSpare(0, host: host, knowing: known)
    #expect(isGranted == isExpected, sourceLocation: location)
  }

  @Test("A range gets a slot only while no worker waits for one")
  func slots() {
    var slots = WireSlots(limit: 2, workers: 2)
    expectSpare(true, &slots)
    #expect(slots.acquire(0, host: 0, knowing: 0) == .granted)
    expectSpare(false, &slots)
    #expect(slots.acquire(1, host: 0, knowing: 0) == .full)
    #expect(slots.isAnotherWaiting(0))
    #expect(!slots.isAnotherWaiting(1))
    slots.giveBack(0, host: 0)
    expectSpare(false, &slots)
    #expect(slots.acquire(1, host: 0, knowing: 0) == .granted)
    slots.giveBack(0, host: 0)
    slots.call(1)
    expectSpare(false, &slots)
    slots.clearCall(1)
    expectSpare(true, &slots)
  }

  @Test("A host in trouble gets no further connections")
  func trouble() {
    var slots = WireSlots(limit: 2, workers: 1)
    slots.recordTrouble(of: 3)
    expectSpare(false, &slots, host: 3)
    expectSpare(true, &slots, host: 3, knowing: 1)
  }

  @Test("A body is compared with the fastest other body of its host, for five seconds")
  func rates() {
    var hosts = HostRates()
    let (a, b, c) = (TransferID(1), TransferID(2), TransferID(3))
    hosts.record(10, of: a, host: 0, at: .zero)
    #expect(hosts.fastest(of: 0, except: a, at: .zero) == nil)
    #expect(hosts.fastest(of: 0, except: b, at: .zero) == 10)
    #expect(hosts.fastest(of: 1, except: b, at: .zero) == nil)
    hosts.record(30, of: b, host: 0, at: .seconds(1))
    hosts.record(20, of: b, host: 0, at: .seconds(2))
    #expect(hosts.fastest(of: 0, except: c, at: .seconds(2)) == 20)
    #expect(hosts.fastest(of: 0, except: c, at: .seconds(8)) == nil)
    hosts.record(nil, of: a, host: 0, at: .seconds(9))
    #expect(hosts.fastest(of: 0, except: c, at: .seconds(10)) == 0)
    #expect(hosts.fastest(of: 0, except: c, at: .seconds(11)) == nil)
    #expect(!hosts.refusesRanges(of: 0))
    hosts.refuseRanges(of: 0)
    #expect(hosts.refusesRanges(of: 0))
    #expect(!hosts.refusesRanges(of: 1))
  }
}
