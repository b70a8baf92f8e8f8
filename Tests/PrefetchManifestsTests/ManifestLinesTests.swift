import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite struct ManifestLinesTests {
  static let head =
    "{\"format\": \"prefetch-manifest\", \"version\": 1, \"base\": \"https://a.example/\"}"

  static func read(_ text: String, mime: String? = nil) -> Result<Manifest, Failure> {
    let source = ManifestSource(bytes: .file("m"), base: nil, mime: mime, name: "m")
    do throws(Failure) {
      let bytes = Array(text.utf8)
      return .success(try ManifestReader.read(unsafe bytes.span.bytes, source: source))
    } catch {
      return .failure(error)
    }
  }

  @Test(
    "Items may follow the object, one on each line",
    arguments: ["\n", "\r\n", "\n\n \n", " \n"]
  )
  func lines(ending: String) throws {
    let text = [Self.head, "{\"url\": \"x\", \"size\": 3}", "\"y\"", ""].joined(separator: ending)
    let manifest = try Self.read(text).get()
    #expect(manifest.entries.map(\.url.string) == ["https://a.example/x", "https://a.example/y"])
    #expect(manifest.entries.first?.size == 3)
  }

  @Test("An invalid line fails alone with its position")
  func rejected() throws {
    let text = Self.head + "\n{\"url\": \"x\"}\n{\"url\": \"ä\", \"size\": -1}\n{\"url\": \"z\"}\n"
    let manifest = try Self.read(text).get()
    #expect(manifest.entries.count == 2)
    #expect(
      manifest.rejected.map(\.failure) == [
        Failure(.manifestInvalid, "line 3, column 22: `size` must be a number of bytes")
      ]
    )
  }

  @Test("An invalid item of a list has its position too")
  func locations() throws {
    let text = """
      {"format": "prefetch-manifest", "version": 1, "items": [
        "https://a.example/ä", {"url": "https://a.example/x",
          "size": -1}, {"url": "https://a.example/y", "ttl": "soon"}]}
      """
    let manifest = try Self.read(text).get()
    #expect(
      manifest.rejected.map(\.failure.message) == [
        "line 3, column 13: `size` must be a number of bytes",
        "line 3, column 56: `ttl` must be a duration such as `15m`, or `immutable`",
      ]
    )
  }

  @Test(
    "The object alone is a manifest of lines where the media type says so",
    arguments: ["application/x-ndjson", "Application/X-NDJSON; charset=utf-8", "application/jsonl"]
  )
  func mime(mime: String) throws {
    #expect(try Self.read(Self.head + "\n", mime: mime).get().itemCount == 0)
    #expect(throws: Failure.self) {
      try Self.read(Self.head + "\n", mime: "application/json").get()
    }
  }

  @Test(
    "Text after the object on its line, or a broken line, is refused",
    arguments: [
      head + " {\"url\": \"x\"}\n", head + "\n{\"url\": \"x\"\n",
      head + "\n{\"url\": \"x\"},\n\"y\"\n",
      head + "\n{\"url\": \"x\", \"url\": \"y\"}\n", head + "\n}\n", head + "\n\u{1}\n",
      head.replacing("}", with: ", \"items\": []}") + "\n\"x\"\n",
    ]
  )
  func broken(text: String) {
    guard case .failure(let failure) = Self.read(text) else {
      Issue.record("it was read")
      return
    }
    #expect(failure.code == .manifestInvalid)
    #expect(failure.message.hasPrefix("line "), "\(failure.message)")
  }
}

@Suite struct DigestBytesTests {
  @Test("Digits are read eight at a time, and no other byte is taken for one")
  func digits() {
    for index in 0..<64 {
      for byte in UInt8.min...UInt8.max {
        var text = Array(String(repeating: "0123456789abcdefABCDEF9876543210", count: 2).utf8)
        text[index] = byte
        let expected = Hexadecimal.decode(String(decoding: text, as: UTF8.self))
        let found = unsafe text.withUnsafeBytes { unsafe DigestBytes.sha256($0) }
        #expect(found == expected.flatMap { ContentDigest(bytes: $0) })
      }
    }
  }
}
