internal import PrefetchCore
internal import PrefetchDocuments

/// Reads a native manifest without building a tree of all items.
@safe struct NativeLayout {
  /// Bytes of the `items` list, with its brackets, or the offset of the lines after the object.
  private enum Items {
    case list(Range<Int>, NativeItemList)
    case lines(from: Int)
  }

  private let bytes: UnsafeRawBufferPointer
  private let source: ManifestSource
  private let usesFastPath: Bool
  private var cursor: JSONCursor
  private var base: JSONCursor.Stretch?
  private var items: Items?
  private var rootEnd = 0

  /// Reads the manifest; returns nil when the document needs the reader of whole documents.
  @unsafe static func read(
    _ bytes: UnsafeRawBufferPointer,
    source: ManifestSource,
    usesFastPath: Bool = true
  ) -> Result<Manifest, Failure>? {
    guard
      var layout = unsafe NativeLayout(bytes, source: source, usesFastPath: usesFastPath)
    else { return nil }
    do throws(NativeItemList.Fault) {
      return .success(try layout.manifest())
    } catch {
      switch error {
      case .irregular: return nil
      case .item(let failure): return .failure(failure)
      }
    }
  }

  @unsafe private init?(
    _ bytes: UnsafeRawBufferPointer,
    source: ManifestSource,
    usesFastPath: Bool
  ) {
    guard let cursor = unsafe JSONCursor(bytes) else { return nil }
    unsafe self.bytes = bytes
    self.cursor = cursor
    self.source = source
    self.usesFastPath = usesFastPath
  }

  private mutating func manifest() throws(NativeItemList.Fault) -> Manifest {
    try findMembers()
    let root = try withoutItems()
    do {
      try NativeManifest.check(root)
      let base = try NativeManifest.base(of: root["base"], source: source)
      var reader = NativeItemReader(base: base)
      var manifest = try NativeManifest.members(of: root, &reader, source: source)
      let list = try list(base: base)
      let (parents, most) = (manifest.entries.categoryParents, manifest.entries.countPerCategory)
      manifest.entries = list.table
      manifest.entries.categoryParents = parents
      manifest.entries.countPerCategory = most
      manifest.rejected = list.rejected
      return manifest
    } catch let fault as NativeItemList.Fault {
      throw fault
    } catch let failure as Failure where keepsLocations {
      throw .item(failure)
    } catch {
      throw .irregular
    }
  }

  private mutating func findMembers() throws(NativeItemList.Fault) {
    guard cursor.accept(UInt8(ascii: "{")) else { throw .irregular }
    repeat {
      guard cursor.next() == UInt8(ascii: "\""), let key = cursor.string(),
        cursor.accept(UInt8(ascii: ":"))
      else { throw .irregular }
      let start = (cursor.next(), cursor.offset).1
      if key.count == 5, cursor.number(of: key) == 0x73_6D65_7469 {  // items
        guard items == nil, cursor.accept(UInt8(ascii: "[")) else { throw .irregular }
        var list = list(from: cursor.offset, base: try writtenBase())
        cursor.offset = try list.read(.list)
        items = .list(start..<cursor.offset, list)
        continue
      }
      guard cursor.skipValue() else { throw .irregular }
      if key.count == 4, cursor.number(of: key) == 0x6573_6162 {  // base
        guard base == nil else { throw .irregular }
        base = JSONCursor.Stretch(start: start, count: cursor.offset - start)
        if case .list(let range, _) = items {
          // `base` came after `items`, so relative references must be resolved again.
          var list = list(from: range.lowerBound + 1, base: try writtenBase())
          _ = try list.read(.list)
          items = .list(range, list)
        }
      }
    } while cursor.accept(UInt8(ascii: ","))
    guard cursor.accept(UInt8(ascii: "}")) else { throw .irregular }
    rootEnd = cursor.offset
    guard cursor.next() != 0 || source.hasLines else { return }
    guard items == nil, cursor.offset == cursor.count || isOnLaterLine(cursor.offset) else {
      throw .irregular
    }
    items = .lines(from: cursor.offset)
  }

  private func isOnLaterLine(_ offset: Int) -> Bool {
    (rootEnd..<offset).contains { cursor.byte(at: $0) == 0x0A }
  }

  private func writtenBase() throws(NativeItemList.Fault) -> WebURL? {
    guard let base else { return source.base }
    do throws(Failure) {
      let node = try NativeManifest.parse(unsafe Array(cursor.bytes(base)))
      return try NativeManifest.base(of: node, source: source)
    } catch {
      throw .irregular
    }
  }

  private func list(from offset: Int, base: WebURL?) -> NativeItemList {
    var cursor = cursor
    cursor.offset = offset
    return NativeItemList(
      cursor,
      base: base,
      position: unsafe TextPosition(bytes),
      usesFastPath: usesFastPath
    )
  }

  private func list(base: WebURL?) throws(NativeItemList.Fault) -> NativeItemList {
    switch items {
    case .list(_, let list): return list
    case .lines(let offset):
      var list = list(from: offset, base: base)
      _ = try list.read(.lines)
      return list
    case nil: throw .irregular
    }
  }

  private func withoutItems() throws(NativeItemList.Fault) -> Node {
    let content: [UInt8]
    switch items {
    case .list(let range, _):
      content =
        unsafe Array(bytes[..<range.lowerBound]) + Array("[]".utf8)
        + Array(bytes[range.upperBound...])
    case .lines: content = unsafe Array(bytes[..<rootEnd])
    case nil: throw .irregular
    }
    do throws(Failure) {
      return try NativeManifest.parse(content)
    } catch {
      throw .irregular
    }
  }

  /// Whether the items come last, so that the other members keep their locations without them.
  private var keepsLocations: Bool {
    guard case .list(let range, _) = items else { return true }
    return (range.upperBound..<rootEnd - 1).allSatisfy { cursor.byte(at: $0) <= 0x20 }
  }
}

extension ManifestSource {
  fileprivate var hasLines: Bool {
    if rules.format == .ndjson { return true }
    guard let mime else { return false }
    let name = mime.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
    return ["application/x-ndjson", "application/jsonl", "application/x-jsonlines"].contains(name)
  }
}
