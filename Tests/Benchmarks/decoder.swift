// The peer of row 12: Foundation's decoder on the manifest that prefetch reads. It is compiled by
// itself with `swiftc -O` and belongs to no target of the package.
import Foundation

struct Manifest: Decodable {
  struct Item: Decodable {
    let url: String
    let size: Int
    let mime: String
    let digests: [String: String]
  }

  let format: String
  let version: Int
  let items: [Item]
}

let data = try Data(
  contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]),
  options: .mappedIfSafe
)
print(try JSONDecoder().decode(Manifest.self, from: data).items.count)
