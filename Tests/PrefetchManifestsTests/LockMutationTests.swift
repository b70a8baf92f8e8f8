import PrefetchCore
import Testing

@testable import PrefetchManifests

@Suite struct LockMutationTests {
  @Test("Spoilt files are read or refused, by every reader", arguments: LockReader.allCases)
  func mutations(_ reader: LockReader) throws {
    let seeds = try #require(LockReader.seeds[reader]).map { Array($0.utf8) }
    let wish = PackageWish(
      project: "left",
      version: "1.0",
      digests: [ExpectedDigest(algorithm: .sha256, bytes: [UInt8](repeating: 0xAB, count: 32))]
    )
    var text = ManifestText(seed: 7)
    for round in 0..<ManifestText.rounds {
      let bytes = text.mutated(seeds[round % seeds.count])
      let part: ManifestPart.Kind? = round.isMultiple(of: 3) ? nil : .packageIndex(wish)
      guard case .success(let manifest) = reader.read(bytes, part: part) else { continue }
      for entry in manifest.entries {
        #expect(entry.path.map(Self.isInside) ?? true)
      }
    }
  }

  private static func isInside(_ path: String) -> Bool {
    !path.hasPrefix("/") && !path.split(separator: "/").contains("..") && !path.contains("\0")
  }
}
