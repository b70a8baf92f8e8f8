internal import PrefetchCore

struct BodyBeginning {
  /// Number of bytes to keep.
  var limit = StagedBody.prefixLength
  private(set) var bytes: [UInt8] = []

  mutating func take(_ piece: RawSpan) {
    let count = min(limit - bytes.count, piece.byteCount)
    guard count > 0 else { return }
    unsafe piece.extracting(first: count).withUnsafeBytes { first in
      if bytes.isEmpty { unsafe bytes = [UInt8](first) } else { unsafe bytes += first }
    }
  }
}
