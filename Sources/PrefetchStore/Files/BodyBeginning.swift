internal import PrefetchCore

/// The first bytes of a body that is seen piece by piece.
struct BodyBeginning {
  /// So many bytes are wanted.
  var limit = StagedBody.prefixLength
  private(set) var bytes: [UInt8] = []

  /// The pieces have to come in their order.
  mutating func take(_ piece: RawSpan) {
    let count = min(limit - bytes.count, piece.byteCount)
    guard count > 0 else { return }
    unsafe piece.extracting(first: count).withUnsafeBytes { first in
      // Most come at once.
      if bytes.isEmpty { unsafe bytes = [UInt8](first) } else { unsafe bytes += first }
    }
  }
}
