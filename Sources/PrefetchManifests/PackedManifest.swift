internal import PrefetchCore
internal import PrefetchCrypto

/// A gzip-compressed manifest, as sitemaps often are; recognized by its content.
enum PackedManifest {
  /// Largest compression ratio; honest texts stay below it.
  static let maximumExpansion = 1_000

  static func isPacked(_ bytes: RawSpan) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe $0.starts(with: [0x1F, 0x8B]) }
  }

  static func isType(_ mime: String) -> Bool {
    let name = mime.prefix { $0 != ";" }.lowercased()
    return ["application/gzip", "application/x-gzip"].contains(name)
  }

  static func unpacked(_ bytes: RawSpan, atMost size: Int64) throws(Failure) -> [UInt8] {
    let limit = min(Int(size), bytes.byteCount * maximumExpansion)
    var text: [UInt8] = []
    let reader: GzipReader
    do throws(GzipReader.Fault) {
      reader = try GzipReader()
    } catch {
      throw Failure(.failed, "no memory to unpack it")
    }
    let fault = try reader.read(bytes) { chunk throws(Failure) in
      guard text.count + chunk.byteCount <= limit else {
        throw Failure(.tooLarge, "it unpacks to more than \(limit) bytes")
      }
      unsafe chunk.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
    }
    switch fault {
    case nil where reader.isWhole: return text
    case .outOfMemory: throw Failure(.failed, "no memory to unpack it")
    case nil: throw Failure(.truncated, "its gzip ends too early")
    case .damaged: throw Failure(.corrupted, "its gzip is damaged")
    }
  }
}
