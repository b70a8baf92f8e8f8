import PrefetchCore

/// Declaration of a night: the same items each time, with that night's headers.
struct NightDeclaration {
  enum Form: CaseIterable {
    /// The segment declares the headers.
    case inline
    /// Each item declares the headers.
    case ofItems
    /// The items come from a manifest on the same server.
    case listed
  }

  let items: [NightItem]
  let form: Form
  let headers: [String: String]

  private var fields: [HeaderField] {
    headers.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) }
  }

  /// Fingerprint of the headers, which a run request must carry in addition to the list.
  var rules: UInt64 {
    let text = fields.map { "\($0.name): \($0.value)\n" }.joined()
    return text.utf8.reduce(14_695_981_039_346_656_037) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
  }

  func segment() throws -> SegmentDeclaration {
    let source: SegmentDeclaration.Source
    switch form {
    case .inline, .ofItems: source = .inline(try items.map(entry))
    case .listed: source = .remote(try WebURL(NightOrigin.listAddress))
    }
    var segment = SegmentDeclaration(name: "nightly", source: source)
    if form != .ofItems { segment.headers = fields }
    return segment
  }

  private func entry(_ item: NightItem) throws -> ManifestEntry {
    var entry = ManifestEntry(url: try WebURL(item.address))
    if form == .ofItems { entry.headers = fields }
    switch item.grant {
    case .nothing: break
    case .seconds(let seconds): entry.lifetime = .atMost(.seconds(seconds))
    case .always: entry.lifetime = .immutable
    }
    return entry
  }
}
