import PrefetchConfig
import PrefetchCore

/// Finds local lists that a run could not use.
struct LocalListLints {
  let loaded: LoadedConfiguration
  let builder: RequestBuilder
  let now: Instant
  /// Whether a list may be missing now and made before the run.
  let mayBeMissing: Bool

  var diagnostics: [Diagnostic] {
    loaded.configuration.segments.enumerated().flatMap { number, segment -> [Diagnostic] in
      guard segment.manifest != nil, let list = LocalList(builder.declaration(segment)) else {
        return []
      }
      let path = ValuePath([.key("segments"), .index(number), .key("manifest")])
      return findings(list, segment.name).map { finding in
        loaded.diagnostic(
          "config.list",
          "segment `\(segment.name)`: \(finding.message)",
          severity: finding.severity,
          hint: finding.hint,
          at: path
        )
      }
    }
  }

  private struct Finding {
    var message: String
    var severity = Diagnostic.Severity.error
    var hint: String?
  }

  private func findings(_ list: LocalList, _ name: String) -> [Finding] {
    let policy = builder.policy
    let manifest: Manifest
    switch list.read(limit: policy.maximumManifestSize) {
    case .success(let read): manifest = read
    case .failure(let failure) where failure.code == .notFound && mayBeMissing:
      return [Finding(message: failure.message, severity: .warning)]
    case .failure(let failure): return [finding(failure, list)]
    }
    let objection = ManifestGuard.objection(
      to: manifest,
      of: list.declaration,
      bundleID: loaded.configuration.bundleID,
      recorded: nil,
      newest: ManifestSelection(list.declaration.manifestRules)
        .select(from: manifest.entries).newest,
      policy: policy,
      now: now
    )
    // A list with further documents on a server may contain no item.
    if let objection, manifest.furtherDocuments.isEmpty { return [finding(objection, list)] }
    return refusals(manifest) + rejections(manifest, list)
  }

  private func finding(_ failure: Failure, _ list: LocalList) -> Finding {
    let isNamed = failure.message.contains(list.path)
    return Finding(message: isNamed ? failure.message : "`\(list.path)`: \(failure.message)")
  }

  private func refusals(_ manifest: Manifest) -> [Finding] {
    var hosts: Set<String> = []
    let urls = manifest.entries.allOrigins + manifest.furtherDocuments.map(\.url)
    return urls.compactMap { url in
      let verdict = builder.policy.transportSecurity.decide(url, for: .other, at: now)
      guard case .refused(_, let hint) = verdict, hosts.insert(url.host).inserted else {
        return nil
      }
      return Finding(
        message: "its list names `\(url.host)`, and plain http to it is not allowed",
        hint: hint
      )
    }
  }

  /// Returns a warning on refused items, which concern the list and not the configuration.
  private func rejections(_ manifest: Manifest, _ list: LocalList) -> [Finding] {
    guard let first = manifest.rejected.first else { return [] }
    let count = CountedNoun("item").text(manifest.rejected.count)
    let subject = first.url.isEmpty ? "" : "`\(WebURL.redacted(first.url))`: "
    return [
      Finding(
        message:
          "`\(list.path)`: \(count) of its \(manifest.itemCount + manifest.furtherDocuments.count) "
          + "cannot be taken; the first: \(subject)\(first.failure.message)",
        severity: .warning
      )
    ]
  }
}
