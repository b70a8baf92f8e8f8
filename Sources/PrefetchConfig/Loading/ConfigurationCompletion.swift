import PrefetchCore
import PrefetchDocuments

extension LoadedConfiguration {
  mutating func complete(mayMiss: Bool) {
    gatherPins()
    for index in configuration.segments.indices {
      findManifest(ofSegmentAt: index, mayMiss: mayMiss)
    }
  }

  private mutating func gatherPins() {
    let pinned = configuration.transportSecurity.pinnedDomains
    configuration.transportSecurity.pinnedDomains = [:]
    for (host, pin) in pinned.sorted(by: { $0.key < $1.key }) {
      guard let earlier = configuration.pins.updateValue(pin, forKey: host), !earlier.says(pin)
      else { continue }
      complain(
        "config.conflict",
        "`\(host)` has different pins in `tls.pins` and in `NSPinnedDomains`",
        at: ValuePath([.key("tls"), .key("pins"), .key(host)])
      )
    }
  }

  private mutating func findManifest(ofSegmentAt index: Int, mayMiss: Bool) {
    let segment = configuration.segments[index]
    let path = ValuePath([.key("segments"), .index(index)])
    let isGiven = ["manifest", "urls"].contains {
      origins[path.appending(.key($0)).description] != nil
    }
    guard !isGiven, segment.manifest == nil, !segment.name.isEmpty else { return }
    guard let template = configuration.manifests else {
      let isKnown = origins["manifests"] != nil
      if !isKnown, !mayMiss { reportMissingManifest(of: segment.name, at: path) }
      return
    }
    do {
      let location = try ManifestTemplate(template).location(of: segment.name)
      configuration.segments[index].manifest = location
    } catch {
      complain(error.code, error.message, at: path.appending(.key("name")))
    }
  }

  private mutating func reportMissingManifest(of name: String, at path: ValuePath) {
    complain(
      "config.missing-source",
      "the segment `\(name)` has neither `manifest` nor `urls`, and there is no `manifests` template to find it by",
      hint: isInfoPlist
        ? "say where manifests are: `--manifests 'https://…/{segment}.json'`"
        : "add `manifest: https://…` to it",
      at: path.appending(.key("name"))
    )
  }

  private mutating func complain(
    _ code: Diagnostic.Code,
    _ message: String,
    hint: String? = nil,
    at path: ValuePath
  ) {
    diagnostics.append(diagnostic(code, message, hint: hint, at: path))
  }
}
