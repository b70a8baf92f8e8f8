import Glibc
import PrefetchCore
import Testing

@testable import PrefetchStore

@Suite("Locks")
struct LockTests {
  let temporary: TemporaryCache

  init() throws {
    temporary = try TemporaryCache()
  }

  @Test("A lock keeps a second run out, names the first, and ends with it")
  func runLock() throws {
    var first = try RunLock.acquire(cache: temporary.cache, identity: "one")
    #expect(first != nil)
    #expect(try RunLock.acquire(cache: temporary.cache, identity: "one") == nil)
    #expect(
      try RunLock.acquire(cache: temporary.cache, identity: "one", wait: .upTo(.milliseconds(1)))
        == nil
    )
    #expect(try RunLock.holder(cache: temporary.cache, identity: "one") == Int(getpid()))
    first = nil
    #expect(try RunLock.acquire(cache: temporary.cache, identity: "one") != nil)
  }

  @Test("A lock ends with its owner, also where a starting process shares the file")
  func sharedDescriptor() throws {
    var first = try RunLock.acquire(cache: temporary.cache, identity: "one")
    #expect(first != nil)
    let number = try #require(
      FileTree.descriptor(of: temporary.cache + "/locks/7692c3ad3540bb803c020b3aee66cd88")
    )
    // A fork duplicates every descriptor.
    let shared = dup(number)
    try #require(shared >= 0)
    defer { close(shared) }
    #expect(try RunLock.acquire(cache: temporary.cache, identity: "one") == nil)
    first = nil
    #expect(try RunLock.acquire(cache: temporary.cache, identity: "one") != nil)
  }

  @Test("A wait for a lock ends when it is cancelled")
  func cancelledWait() throws {
    let first = try RunLock.acquire(cache: temporary.cache, identity: "one")
    var calls = 0
    let second = try RunLock.acquire(cache: temporary.cache, identity: "one", wait: .unlimited) {
      calls += 1
      return calls == 2
    }
    #expect(second == nil)
    #expect(first != nil)
  }

  @Test("A draft of a database that cannot be locked is an error at once: no process is waited for")
  func draft() throws {
    let path = temporary.path + "/draft"
    let draft = try Database(path: path, named: "draft", access: .creating)
    try draft.execute("PRAGMA journal_mode=WAL; CREATE TABLE numbers (number)")
    let other = try Database(path: path, named: "draft", access: .writing)
    try other.execute("BEGIN IMMEDIATE; INSERT INTO numbers VALUES (1)")
    let writing = #expect(throws: Failure.self) {
      try draft.execute("INSERT INTO numbers VALUES (2)")
    }
    #expect(writing?.code == .disk)
    try other.execute("COMMIT; BEGIN; SELECT * FROM numbers")
    let closing = #expect(throws: Failure.self) { try draft.checkpoint() }
    #expect(closing?.code == .disk)
    try other.execute("COMMIT")
    #expect(try draft.checkpoint())
  }

  @Test("A lock of an item protects it from removal until it ends")
  func itemLock() throws {
    let url = "https://a.example/"
    try temporary.run { (store: DiskStore) throws in
      try store.put([url: "a"], in: .basics)
      try store.lock([url], for: DiskStore.Guardian(until: Instant(seconds: 5_000_000_000)))
      #expect(try store.lockedURLs() == [url])
      #expect(try store.commit([.forget(.basics)]).isEmpty)
      #expect(try store.removeUnheld().isEmpty)
    }
    try temporary.run(at: Instant(seconds: 5_000_000_001)) { (store: DiskStore) throws in
      #expect(try store.lockedURLs().isEmpty)
      #expect(try store.removeUnheld().map(\.url) == [url])
    }
  }

  @Test("A lock of an item may be bound to a process and released")
  func processLock() throws {
    let url = "https://a.example/"
    try temporary.run { (store: DiskStore) throws in
      try store.put([url: "a"], in: .basics)
      let us = DiskStore.Guardian(process: getpid())
      try store.lock([url], for: us)
      #expect(try store.lockedURLs() == [url])
      // No process can have this id, which exceeds the kernel's limit.
      #expect(throws: Failure.self) {
        try store.lock([url], for: DiskStore.Guardian(process: 0x7fff_0000))
      }
      try store.lock([url], for: DiskStore.Guardian())
      try store.unlock([url], of: getpid())
      #expect(try store.lockedURLs() == [url])
      try store.lock([url], for: us)
      try store.unlock([url])
      #expect(try store.lockedURLs().isEmpty)
      #expect(try store.remove(urls: [url]).map(\.url) == [url])
    }
  }
}
