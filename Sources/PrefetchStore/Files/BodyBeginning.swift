internal import PrefetchCore

struct BodyBeginning {
  var limit = StagedBody.prefixLength
  private(set) var bytes: [UInt8] = []

  mutating func append(_ chunk: RawSpan) {
    let count = min(limit - bytes.count, chunk.byteCount)
    guard count > 0 else { return }
    unsafe chunk.extracting(first: count).withUnsafeBytes { first in
      if bytes.isEmpty { unsafe bytes = [UInt8](first) } else { unsafe bytes += first }
    }
  }
}
