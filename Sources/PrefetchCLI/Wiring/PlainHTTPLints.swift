import PrefetchConfig
import PrefetchCore

/// Finds configured URLs that transport security refuses: a run would end with 5 for each.
struct PlainHTTPLints {
  let loaded: LoadedConfiguration
  let policy: RunPolicy
  let now: Instant

  private struct Mention {
    var url: WebURL?
    var purpose: RequestPurpose
    var path: ValuePath
  }

  var diagnostics: [Diagnostic] {
    mentions.compactMap { mention in
      guard let url = mention.url,
        case .refused(_, let hint) = policy.transportSecurity.decide(
          url,
          for: mention.purpose,
          at: now
        )
      else { return nil }
      return loaded.diagnostic(
        "config.plain-http",
        "plain http to `\(url.host)` is not allowed",
        hint: hint,
        at: itemPath(mention.path)
      )
    }
  }

  /// Returns the place of an item, which is a URL or a mapping with one.
  private func itemPath(_ path: ValuePath) -> ValuePath {
    let inside = path.appending(.key("url"))
    return loaded.origins[inside.description] == nil ? path : inside
  }

  private var mentions: [Mention] {
    let configuration = loaded.configuration
    let registration = Mention(
      url: configuration.registration.url,
      purpose: .other,
      path: ValuePath([.key("registration"), .key("url")])
    )
    let collector = Mention(
      url: configuration.analytics.isEnabled ? configuration.analytics.endpoint : nil,
      purpose: .other,
      path: ValuePath([.key("analytics"), .key("endpoint")])
    )
    return [registration, collector]
      + configuration.segments.enumerated().flatMap { mentions(of: $1, at: $0) }
  }

  private func mentions(of segment: Segment, at index: Int) -> [Mention] {
    let path = ValuePath([.key("segments"), .index(index)])
    var mentions: [Mention] = []
    if let url = segment.manifestURL {
      mentions.append(Mention(url: url, purpose: .manifest, path: path.appending(.key("manifest"))))
    }
    if segment.manifest != nil {
      // Inline items are whole URLs and need no base.
      mentions.append(
        Mention(url: segment.declaration.base, purpose: .other, path: path.appending(.key("base")))
      )
    }
    for (position, item) in segment.urls.lazy.map(\.item).enumerated() {
      let path = path.appending(.key("urls")).appending(.index(position))
      let purpose = RequestPurpose(itemType: item.type)
      mentions.append(Mention(url: item.url, purpose: purpose, path: path))
      for (number, url) in item.alternateURLs.enumerated() {
        let path = path.appending(.key("alternates")).appending(.index(number))
        mentions.append(Mention(url: url, purpose: purpose, path: path))
      }
    }
    // A list of plain values has the place of the list.
    mentions += segment.declaration.alternates.map {
      Mention(url: $0, purpose: .other, path: path.appending(.key("alternates")))
    }
    let rules = segment.declaration.manifestRules
    let registries = [
      ("npm", "registry", rules.npmRegistry), ("pip", "index", rules.pipIndex),
      ("go", "proxy", rules.goProxy), ("json", "base", rules.pointers.base),
    ]
    return mentions
      + registries.map { key, name, url in
        let path = path.appending(.key(key)).appending(.key(name))
        return Mention(url: url, purpose: .other, path: path)
      }
  }
}
