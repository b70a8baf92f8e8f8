import PrefetchCore
import PrefetchCrypto
import Synchronization

/// Memory for short answers that must not touch a disk, since they hold secrets.
final class ReplyStaging: BodyStaging, Sendable {
  private let bodies = Mutex<[[UInt8]]>([])

  func beginBody(_ plan: BodyPlan) throws(Failure) -> any BodySink {
    Sink(self)
  }

  func withBytes<Result>(
    of body: StagedBody,
    _ read: (RawSpan) throws -> Result
  ) throws -> Result {
    unsafe try read(bytes(of: body).span.bytes)
  }

  func discard(_ body: StagedBody) {
    bodies.withLock { $0[body.id] = [] }
  }

  func bytes(of body: StagedBody) -> [UInt8] {
    bodies.withLock { $0[body.id] }
  }

  private func keep(_ bytes: [UInt8]) -> Int {
    bodies.withLock { bodies in
      bodies.append(bytes)
      return bodies.count - 1
    }
  }

  private final class Sink: BodySink {
    private let staging: ReplyStaging
    private var bytes: [UInt8] = []

    init(_ staging: ReplyStaging) {
      self.staging = staging
    }

    var size: Int64 {
      Int64(bytes.count)
    }

    func append(_ more: RawSpan) throws(Failure) {
      unsafe more.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    func finish() throws(Failure) -> StagedBody {
      StagedBody(id: staging.keep(bytes), digest: SHA256.digest(of: bytes), size: size)
    }

    func suspend() -> PartialBody? {
      nil
    }

    func abandon() {
      bytes = []
    }
  }
}
