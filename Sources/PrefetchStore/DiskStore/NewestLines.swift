internal import PrefetchCore

/// Codes the newest versions of a list: a line with the hash of their rules, then lines of group,
/// version and the date that the list states.
enum NewestLines {
  static func encode(_ newest: HeldVersions?) -> String? {
    guard let newest else { return nil }
    let lines = newest.groups.compactMap { group, version -> String? in
      // A name with such a byte would need an escape; without its line its group has no guard.
      guard !(group + version.text).utf8.contains(where: { $0 == 0x09 || $0 == 0x0A }) else {
        return nil
      }
      let date = version.listed.map { String($0.milliseconds) } ?? "-"
      return "\(group)\t\(version.text)\t\(date)"
    }
    return ([String(newest.rules)] + lines.sorted()).joined(separator: "\n")
  }

  static func decode(_ text: String?) -> HeldVersions? {
    let lines = (text ?? "").split(separator: "\n")
    guard let rules = lines.first.flatMap({ UInt64($0) }) else { return nil }
    var newest = HeldVersions(rules: rules, groups: [:])
    for line in lines.dropFirst() {
      let fields = line.split(separator: "\t").map(String.init)
      guard fields.count == 3 else { continue }
      let listed = Int64(fields[2]).map { Instant(milliseconds: $0) }
      newest.groups[fields[0]] = GroupVersion(text: fields[1], listed: listed)
    }
    return newest
  }
}
