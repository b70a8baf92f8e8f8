/// Guard against another list for a mirror: most likely the user named the wrong list or folder.
extension Dispatcher {
  func isOtherList(_ index: Int) -> Bool {
    let segment = segments[index]
    guard segment.declaration.publishing?.mirror != nil, let last = segment.recorded?.manifestURL
    else { return false }
    return switch segment.declaration.source {
    case .remote(let url): url.string != last
    case .file(let path, _): path != last
    case .inline: false
    }
  }

  /// Returns the objection to a list that lacks stored items; nil if the user allowed that.
  func objection(toOtherList manifest: Manifest, of index: Int) -> Failure? {
    guard isOtherList(index), !request.policy.allowsListChange else { return nil }
    let refused = Set(manifest.rejected.map { URLKey($0.url) })
    let count = facts.inventory.positions(of: segments[index].key).count { position in
      let row = facts.inventory.rows[Int(position)]
      return row.hasBody && manifest.entries.position(of: row.key) == nil
        && !refused.contains(row.key)
    }
    guard count > 0 else { return nil }
    let last = segments[index].recorded?.manifestURL ?? ""
    let name = (try? WebURL(last))?.redacted ?? last
    return Failure(
      .manifestGuard,
      "it is a different list than last time (`\(name)`) and lacks \(count) of the stored items; "
        + "`--allow list-change` accepts it once"
    )
  }
}
