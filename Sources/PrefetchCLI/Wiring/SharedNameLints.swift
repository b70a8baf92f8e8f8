import PrefetchConfig
import PrefetchCore
import PrefetchSystem

/// Finds segments with another local list in the last run, as when two configurations share a name;
/// the same relative place in another folder is a moved project.
struct SharedNameLints {
  let loaded: LoadedConfiguration
  let records: [SegmentRecord]
  let currentDirectory: String

  var diagnostics: [Diagnostic] {
    guard let name = loaded.configuration.name else { return [] }
    let folder = loaded.files.first.map {
      String(PathText.split(PathText.absolute($0, in: currentDirectory)).folder)
    }
    return loaded.configuration.segments.compactMap { segment in
      let key = SegmentKey(identity: loaded.identity, name: segment.name)
      guard case .local(let path)? = segment.manifest,
        let last = records.first(where: { $0.key == key })?.manifestURL, last != path,
        !last.contains("://"), !last.hasPrefix("/dev/"), FileReading.exists(last)
      else { return nil }
      let inside = folder.flatMap { path.hasPrefix("\($0)/") ? path.dropFirst($0.count) : nil }
      guard !last.hasSuffix(inside ?? path.dropFirst(0)) else { return nil }
      return Diagnostic(
        "store.shared-name",
        "segment `\(segment.name)` of `\(name)` had the list `\(last)` in the last run, and has `\(path)` now",
        severity: .warning,
        hint: segment.declaration.publishing?.mirror == nil
          ? "if these are two configurations, give each its own `name`: one removes what the other keeps"
          : "if these are two mirrors, give each its own folder: one removes what the other keeps"
      )
    }
  }
}
