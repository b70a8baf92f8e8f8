import PrefetchCore

/// Failures of manifests and items, one entry each, for all renderings.
struct ReportFailures {
  struct Trouble {
    /// Redacted URL, or the segment.
    var subject: String
    var url: String?
    var segments: [String]
    var code: String
    var message: String
    var keepsOlderCopy: Bool
    /// Whether the older copy is only the beginning of a stream.
    var isBeginning = false
    var isRequired: Bool
    var host: String?
    var attempts = 0
    var isOfManifest = false

    var isNoRoute: Bool {
      code == Failure.noRoute.code.rawValue && message == Failure.noRoute.message
    }
  }

  let envelope: ReportEnvelope

  var all: [Trouble] {
    manifests + items
  }

  private var manifests: [Trouble] {
    envelope.report.segments.compactMap { segment in
      guard let failure = segment.manifest.failure else { return nil }
      let url = segment.manifest.url.map { " (\(envelope.redacted(url: $0)))" } ?? ""
      return Trouble(
        subject: "manifest of `\(envelope.redacted(segment.name))`\(url)",
        url: segment.manifest.url.map { envelope.redacted(url: $0) },
        segments: [segment.name],
        code: failure.code.rawValue,
        message: envelope.redacted(failure.message),
        keepsOlderCopy: segment.state == .incomplete,
        isRequired: segment.isRequired || failure.code.category == .trust,
        isOfManifest: true
      )
    }
  }

  private var items: [Trouble] {
    envelope.report.items.compactMap { item in
      guard let failure = item.failure else { return nil }
      return Trouble(
        subject: item.url.isEmpty
          ? "an entry of `\(envelope.redacted(item.segments.first ?? ""))`"
          : envelope.redacted(url: item.url),
        url: item.url.isEmpty ? nil : envelope.redacted(url: item.url),
        segments: item.segments,
        code: failure.code.rawValue,
        message: envelope.redacted(failure.message),
        keepsOlderCopy: item.isUsable,
        isBeginning: item.state == .partial,
        isRequired: item.isRequired || failure.code.category == .trust,
        host: (try? WebURL(item.url))?.authority,
        // The attempts of a bundle belong to several files.
        attempts: item.type.flatMap { BundleForm(rawValue: $0) } == nil ? item.attempts : 0
      )
    }
  }
}
