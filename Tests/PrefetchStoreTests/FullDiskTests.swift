import Glibc
import PrefetchCore
import PrefetchCrypto
import PrefetchStore
import PrefetchTestSupport
import Synchronization
import Testing

/// A file system in memory of a given size, where this process may mount one.
private final class SmallDisk {
  let path: String

  init?(kibibytes: Int, at path: String) {
    self.path = path
    FileTree.makeFolder(path)
    guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(kibibytes)k") == 0 else { return nil }
  }

  deinit {
    unsafe umount2(path, Int32(MNT_DETACH))
  }

  static let isAvailable: Bool = {
    guard let temporary = try? TemporaryCache() else { return false }
    return SmallDisk(kibibytes: 64, at: temporary.path + "/disk") != nil
  }()
}

@Suite("A full disk", .enabled(if: SmallDisk.isAvailable, "needs the right to mount"))
struct FullDiskTests {
  @Test(
    "A full disk fails a commit with its own error and leaves stored content readable",
    arguments: Array(stride(from: 240, through: 1_000, by: 20))
  )
  func fullDisk(_ kibibytes: Int) throws {
    let temporary = try TemporaryCache()
    let disk = SmallDisk(kibibytes: kibibytes, at: temporary.cache)
    #expect(disk != nil)
    defer { withExtendedLifetime(disk) {} }
    do throws(Failure) {
      let store = try DiskStore.openForWriting(
        cache: temporary.cache,
        clockStart: Instant(seconds: 4_000_000_000)
      )
      do throws(Failure) {
        try fill(store)
        try store.finishRun()
      } catch {
        #expect(error.code == .diskFull)
        #expect(try store.verify().bad.isEmpty)
      }
    } catch {
      #expect(error.code == .diskFull)
      return
    }
    // All indexed bodies are intact, and the next run continues once there is room.
    #expect(try #require(try temporary.reader()).verify().bad.isEmpty)
    unsafe mount("tmpfs", temporary.cache, "tmpfs", UInt(MS_REMOUNT), "size=8m")
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    _ = try store.missing()
    try fill(store)
    try store.finishRun()
    let result = try #require(try temporary.reader()).verify()
    #expect(result.checked == 12)
    #expect(result.bad.isEmpty)
    #expect(result.orphans == 0)
    #expect(FileTree.names(temporary.cache + "/partial").isEmpty)
  }

  @Test("A full disk stores every small body beside a large one that never fits")
  func smallAndLarge() throws {
    let temporary = try TemporaryCache()
    let disk = SmallDisk(kibibytes: 2_048, at: temporary.cache)
    #expect(disk != nil)
    defer { withExtendedLifetime(disk) {} }
    let store = try DiskStore.openForWriting(
      cache: temporary.cache,
      clockStart: Instant(seconds: 4_000_000_000)
    )
    let staging = store.staging
    var plan = BodyPlan()
    plan.expectedSize = 8 << 20
    let chunk = [UInt8](repeating: 1, count: 100_000)
    let lost = Mutex(0)
    let active = Mutex(3)
    let writers = (0..<3).map { _ in
      NativeThread {
        for _ in 0..<5_000 {
          let small = [UInt8](repeating: 2, count: 30_000)
          let sink = try? staging.beginBody(BodyPlan())
          try? sink?.append(unsafe small.span.bytes)
          if let body = try? sink?.finish() {
            staging.discard(body)
          } else {
            lost.withLock { $0 += 1 }
          }
        }
        active.withLock { $0 -= 1 }
      }
    }
    var count = 0
    while active.withLock({ $0 > 0 }) {
      let large = try staging.beginBody(plan)
      while (try? large.append(unsafe chunk.span.bytes)) != nil {}
      large.abandon()
      count += 1
    }
    for writer in writers { writer?.join() }
    #expect(count > 1)
    #expect(lost.withLock(\.self) == 0)
  }

  private func fill(_ store: DiskStore) throws(Failure) {
    for number in 0..<12 {
      let bytes = [UInt8](repeating: UInt8(number), count: 40_000 + number * 1000)
      let sink = try store.beginBody(BodyPlan())
      try sink.append(unsafe bytes.span.bytes)
      let body = try sink.finish()
      let record = ContentRecord.cached("https://a.example/\(number)")
      _ = try store.commit([.store(record, body: body, joining: [.basics])])
    }
  }
}
