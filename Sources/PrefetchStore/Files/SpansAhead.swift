internal import PrefetchCore
internal import PrefetchCrypto

/// Written bytes of a body that wait until the bytes before them have been hashed.
///
/// Each span has a digest of its own, so that a later process can trust it.
struct SpansAhead {
  struct Span {
    fileprivate(set) var bounds: Range<Int64>
    /// Hasher of a span that may grow; nil for a span of a kept part.
    fileprivate let hasher: BodyHasher?
    fileprivate let kept: ContentDigest?

    var digest: ContentDigest? {
      hasher?.digestSoFar() ?? kept
    }
  }

  /// A span that is being hashed as a part of the body.
  struct Reading {
    /// Extent before the span, which is recorded until the span has been read.
    let extent: PartExtent
    let check: BodyHasher
  }

  private(set) var spans: [Span] = []
  var reading: Reading?

  init(_ kept: [PartExtent.Span] = []) {
    spans = kept.map { Span(bounds: $0.bounds, hasher: nil, kept: $0.digest) }
  }

  var isEmpty: Bool { spans.isEmpty }

  var storedSize: Int64 {
    spans.reduce(0) { $0 + Int64($1.bounds.count) }
  }

  /// Spans for the record; nil without memory for a digest.
  var recorded: [PartExtent.Span]? {
    var recorded: [PartExtent.Span] = []
    for span in spans {
      guard let digest = span.digest else { return nil }
      recorded.append(PartExtent.Span(bounds: span.bounds, digest: digest))
    }
    return recorded
  }

  /// Adds written bytes to the span that they continue, or as a new span.
  mutating func add(_ bytes: RawSpan, at offset: Int64) throws(Failure) {
    let end = offset + Int64(bytes.byteCount)
    for index in spans.indices where spans[index].bounds.upperBound == offset {
      guard let hasher = spans[index].hasher else { continue }
      hasher.update(bytes)
      spans[index].bounds = spans[index].bounds.lowerBound..<end
      return
    }
    let hasher = try BodyHasher()
    hasher.update(bytes)
    let place = spans.firstIndex { $0.bounds.lowerBound > offset } ?? spans.count
    spans.insert(Span(bounds: offset..<end, hasher: hasher, kept: nil), at: place)
  }

  mutating func removeFirst() {
    spans.removeFirst()
    reading = nil
  }

  mutating func removeAll() {
    spans = []
    reading = nil
  }
}
