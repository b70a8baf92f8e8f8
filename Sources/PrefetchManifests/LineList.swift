internal import PrefetchCore

/// A manifest of lines, each an item or a part of an item.
protocol LineList {
  var lines: TextLines { get set }
  var collector: EntryCollector { get set }

  init(lines: TextLines, collector: EntryCollector)

  mutating func readLines() throws(Failure)
}

extension LineList {
  static func read(_ bytes: RawSpan, into collector: EntryCollector) throws(Failure) -> Manifest {
    let result = unsafe bytes.withUnsafeBytes { bytes -> Result<Manifest, Failure> in
      var list = unsafe Self(lines: TextLines(bytes), collector: collector)
      do throws(Failure) {
        try list.readLines()
        return .success(try list.collector.manifest())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  mutating func count(_ offset: Int, in line: TextLines.Line) throws(Failure) {
    if let surplus = collector.surplus {
      throw NativeManifest.invalid(surplus, at: lines.location(offset, in: line))
    }
    collector.count()
    collector.expect(afterBytes: line.end, of: lines.count)
  }

  mutating func reject(
    _ text: String,
    as reference: String? = nil,
    _ code: ErrorCode,
    _ message: String,
    at offset: Int,
    in line: TextLines.Line
  ) {
    let meant = (try? collector.url(reference ?? text))?.string ?? text
    collector.reject(meant, code, message, at: lines.location(offset, in: line))
  }
}
