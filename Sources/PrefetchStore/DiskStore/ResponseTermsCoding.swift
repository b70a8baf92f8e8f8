internal import PrefetchCore

/// Codes hops and variances as column values: lines of text, a fixed number for each.
enum ResponseTermsCoding {
  static func encode(_ hops: [HopTerms]) -> [UInt8] {
    encode(
      hops.flatMap { hop in
        let columns = hop.freshness.columns
        return [
          hop.url, columns.until.map(String.init) ?? "", String(columns.kind),
          hop.mustRevalidate ? "1" : "",
        ] + (hop.variance.map(fields) ?? ["", "", ""])
      }
    )
  }

  static func encode(_ variance: Variance) -> [UInt8] {
    encode(variance.hops.flatMap(fields))
  }

  static func decodeHops(_ bytes: [UInt8]) -> [HopTerms]? {
    guard let groups = decode(bytes, by: 7) else { return nil }
    var hops: [HopTerms] = []
    for group in groups {
      guard let kind = Int64(group[2]), !group[0].isEmpty else { return nil }
      hops.append(
        HopTerms(
          url: group[0],
          freshness: Freshness(until: Int64(group[1]), kind: kind),
          mustRevalidate: group[3] == "1",
          variance: group[5].isEmpty ? nil : variance(group[4...])
        )
      )
    }
    return hops
  }

  static func decodeVariance(_ bytes: [UInt8]) -> Variance? {
    guard let groups = decode(bytes, by: 3) else { return nil }
    let hops = groups.compactMap { variance($0[...]) }
    return hops.count == groups.count ? Variance(hops) : nil
  }

  private static func fields(_ hop: Variance.Hop) -> [String] {
    [hop.url ?? "", hop.names.joined(separator: ","), String(hop.digest, radix: 16)]
  }

  private static func variance(_ fields: ArraySlice<String>) -> Variance.Hop? {
    let fields = Array(fields)
    guard let digest = UInt64(fields[2], radix: 16), !fields[1].isEmpty else { return nil }
    return Variance.Hop(
      url: fields[0].isEmpty ? nil : fields[0],
      names: fields[1].split(separator: ",").map(String.init),
      digest: digest
    )
  }

  /// Joins fields by line feeds, which neither URLs nor header names contain.
  private static func encode(_ fields: [String]) -> [UInt8] {
    Array(fields.joined(separator: "\n").utf8)
  }

  private static func decode(_ bytes: [UInt8], by count: Int) -> [[String]]? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    let fields = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard fields.count.isMultiple(of: count) else { return nil }
    return stride(from: 0, to: fields.count, by: count).map { Array(fields[$0..<$0 + count]) }
  }
}
