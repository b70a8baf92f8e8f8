import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchManifests
import PrefetchStore
import PrefetchSystem

struct ManifestCheck: Command {
  let context: CommandContext
  let options: ManifestCheckOptions

  func run() throws(CommandExit) -> Int32 {
    try context.prepareTransfers()
    let keys = try options.keys.map { (key) throws(CommandExit) in try publicKey(key) }
    let expiry =
      keys.isEmpty
      ? ManifestExpiry.required
      : try context.configuration(isRequired: false, allowsUnsetSecrets: true)
        .configuration.policy.manifestExpiry
    if let address = try TypedURL.short(options.manifest, context) {
      var loaded = try context.configuration(isRequired: false, allowsUnsetSecrets: true)
      let segment = loaded.segment(of: address, in: .process(context.environment))
      context.console.secrets = loaded.secrets
      return try checkURL(
        DeclaredURL(segment.url(of: address)),
        keys,
        expiry,
        as: address.format,
        headers: address.service == .hf ? segment.declaration.headers : []
      )
    }
    guard options.manifest.contains("://") else {
      return try checkFile(options.manifest, keys, expiry)
    }
    guard let declared = try TypedURL.read(options.manifest, isKnown: false, context) else {
      return ExitStatus.usage.code
    }
    return try checkURL(declared, keys, expiry)
  }

  /// Returns the key itself, or the content of the file that holds it.
  private func publicKey(_ text: String) throws(CommandExit) -> String {
    if (try? MinisignPublicKey(text)) != nil { return text }
    do throws(FileReading.Fault) {
      return String(decoding: try FileReading.read(text, limit: 4096), as: UTF8.self)
    } catch {
      throw context.failed(
        .usage,
        "manifest.key",
        "`\(SafeText.line(text))` is not a minisign public key, and as a file it \(error.reason)"
      )
    }
  }

  // MARK: Where it is

  private func checkFile(
    _ path: String,
    _ keys: [String],
    _ expiry: ManifestExpiry
  ) throws(CommandExit) -> Int32 {
    var signature: [UInt8]?
    if path != "-", !keys.isEmpty {
      signature = try? FileReading.read("\(path).minisig", limit: 1 << 16)
    }
    var source = ManifestFile.source(path == "-" ? "standard input" : path, base: options.base)
    // The place of publication is unknown, and so are the hosts that would be foreign.
    source.rules.mayCrossHosts = options.base == nil
    StopSignals.beginReading()
    defer { StopSignals.endReading() }
    let findings: Findings
    do throws(FileReading.Fault) {
      if path == "-" {
        let bytes = try FileReading.readStandardInput(limit: ManifestFile.limit)
        findings = unsafe Findings(bytes.span.bytes, source, signature, keys)
      } else {
        findings = try FileReading.withBytes(of: path, limit: ManifestFile.limit) {
          Findings($0, source, signature, keys)
        }
      }
    } catch {
      throw context.failed(.io, "manifest.unreadable", "`\(path)` \(error.reason)")
    }
    return conclude(findings, expiry)
  }

  private func checkURL(
    _ declared: DeclaredURL,
    _ keys: [String],
    _ expiry: ManifestExpiry,
    as format: ManifestFormat? = nil,
    headers: [HeaderField] = []
  ) throws(CommandExit) -> Int32 {
    let url = declared.url
    let visit = ManifestVisit(context: context)
    guard let bytes = try visit.body(of: url, digests: declared.digests, headers: headers) else {
      return visit.status.code
    }
    var signature: [UInt8]?
    if !keys.isEmpty { signature = try visit.body(of: url.signatureFile) }
    var source = ManifestFile.source(url.redacted, base: options.base ?? url)
    source.rules.format = format
    source.page = PageHint(url)
    return conclude(unsafe Findings(bytes.span.bytes, source, signature, keys), expiry)
  }

  // MARK: What it is

  private struct Findings {
    var manifest: Result<Manifest, Failure>
    var format: String?
    var signature: Result<TrustedComment, Minisign.Fault>?
    var isUnsigned = false
    var unknownKeys: [Diagnostic] = []

    init(_ bytes: RawSpan, _ source: ManifestSource, _ signature: [UInt8]?, _ keys: [String]) {
      format = ManifestReader.format(of: bytes, source: source)
      do throws(Failure) {
        manifest = .success(try ManifestReader.read(bytes, source: source))
        unknownKeys = ManifestReader.unknownKeys(in: bytes, source: source)
      } catch {
        manifest = .failure(error)
      }
      guard !keys.isEmpty else { return }
      guard let signature else {
        isUnsigned = true
        return
      }
      do throws(Minisign.Fault) {
        self.signature = .success(
          try Minisign.verify(bytes, signature: signature, keys: keys)
        )
      } catch {
        self.signature = .failure(error)
      }
    }
  }

  private func conclude(_ findings: Findings, _ expiry: ManifestExpiry) -> Int32 {
    var status = ExitStatus.ok
    if let format = findings.format { context.console.print("format:    \(format)") }
    switch findings.manifest {
    case .success(let manifest):
      if !manifest.rejected.isEmpty { status = .config }
      context.console.report(findings.unknownKeys)
      describe(manifest)
    case .failure(let failure):
      status = .config
      context.console.report(
        "manifest.invalid",
        "`\(Redaction.url(options.manifest))`: \(failure.message)"
      )
    }
    if findings.isUnsigned {
      status = .trust
      context.console.report(
        "manifest.signature",
        "`\(Redaction.url(options.manifest)).minisig` was not found, so it is unsigned"
      )
    }
    switch findings.signature {
    case .success(let comment):
      let text = SafeText.line(comment.text.replacing("\t", with: " "))
      context.console.print("signature: good (\(text))")
      if let expires = comment.expires { warn(expires: expires) }
      // A run applies the same times, also from the signature's comment.
      if case .success(var manifest) = findings.manifest {
        manifest.generated = manifest.generated ?? comment.timestamp
        manifest.expires = manifest.expires ?? comment.expires
        let now = context.clock.now().wall
        if let objection = ManifestGuard.objection(
          toTimesOf: manifest,
          isSigned: true,
          expiry: expiry,
          now: now
        ) {
          status = .trust
          context.console.report(
            "manifest.\(objection.code.rawValue)",
            "`\(Redaction.url(options.manifest))`: \(objection.message)"
          )
        }
      }
    case .failure(let fault):
      status = .trust
      context.console.report(
        "manifest.signature",
        "the signature of `\(Redaction.url(options.manifest))` proves nothing: \(fault)"
      )
    case nil: break
    }
    return status.code
  }

  private func describe(_ manifest: Manifest) {
    let console = context.console
    console.report(manifest.warnings)
    for entry in manifest.rejected {
      let url = entry.url.isEmpty ? options.manifest : entry.url
      context.console.report(
        "manifest.\(entry.failure.code.rawValue)",
        "`\(SafeText.line(Redaction.url(url)))`: \(entry.failure.message)"
      )
    }
    let (known, unknown) = manifest.entries.sizes
    console.print("items:     \(manifest.itemCount)")
    let unsized = Amounts.count(Int64(unknown), "file") + " without a size"
    let isKnown = known > 0 || unknown == 0
    console.print(
      "bytes:     " + (isKnown ? "\(known)" : "unknown") + (unknown > 0 ? " (\(unsized))" : "")
    )
    if !manifest.rejected.isEmpty { console.print("refused:   \(manifest.rejected.count)") }
    if manifest.entries.duplicateCount > 0 {
      console.print("repeated:  \(manifest.entries.duplicateCount)")
    }
    if !manifest.furtherDocuments.isEmpty {
      console.print("parts:     \(manifest.furtherDocuments.count)")
    }
    if let segment = manifest.segment { console.print("segment:   \(SafeText.line(segment))") }
    if let time = manifest.generated { console.print("generated: \(Timestamp.format(time))") }
    if let time = manifest.expires {
      console.print("expires:   \(Timestamp.format(time))")
      warn(expires: time)
    }
  }

  private func warn(expires: Instant) {
    guard expires <= context.clock.now().wall else { return }
    let message =
      "it expired \(Timestamp.format(expires)), so readers with `manifest_keys` refuse it"
    context.console.report("manifest.expired", message, severity: .warning)
  }
}

/// Fetches a document under the policy to look at it once.
final class ManifestVisit {
  private let context: CommandContext
  private(set) var status = ExitStatus.ok

  init(context: CommandContext) {
    self.context = context
  }

  /// Returns nil if the fetch failed, after the reason was reported.
  func body(
    of url: WebURL,
    digests: [ExpectedDigest] = [],
    headers: [HeaderField] = []
  ) throws(CommandExit) -> [UInt8]? {
    let (loaded, locations) = try context.configurationAndLocations()
    try context.requireTrustFiles(loaded)
    var engine = EngineOptions()
    engine.revalidatesAll = true
    let builder = context.builder(loaded, engine)
    let session = ItemSession(context: context, loaded: loaded, locations: locations)
    defer { try? session.close() }
    let fetch = ItemFetch(session: session, builder: builder)
    let isKnown = try record(url, session) != nil
    var entry = ManifestEntry(url: url)
    entry.digests = digests
    entry.headers = headers
    let report = try fetch.fetch(WantedItems([entry])).report
    status = ExitStatus(report)
    for item in report.items {
      let name = Redaction.masked(Redaction.url(item.url), secrets: loaded.secrets)
      if let deferral = item.deferral {
        let message = "`\(name)`: \(deferral.text())"
        context.console.report("item.deferred", message)
      }
      guard let failure = item.failure else { continue }
      let code = Diagnostic.Code(stringLiteral: failure.code.rawValue)
      context.console.report(code, "`\(name)`: \(failure.message)")
    }
    guard status == .ok, let store = try session.store(),
      let digest = try record(url, session)?.digest
    else { return nil }
    var bytes: [UInt8] = []
    try context.reading { () throws(Failure) in
      do {
        try store.withObject(digest) { chunk in
          unsafe chunk.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        }
      } catch {
        throw (error as? Failure) ?? Failure(.storeDamaged, "\(digest) cannot be read: \(error)")
      }
    }
    if !isKnown { try fetch.forget([url.string]) }
    return bytes
  }

  private func record(
    _ url: WebURL,
    _ session: ItemSession
  ) throws(CommandExit) -> ContentRecord? {
    guard let store = try session.store() else { return nil }
    return try context.reading { () throws(Failure) in try store.record(url: url.string) }
  }
}

extension WebURL {
  /// URL of the signature, beside the manifest; the query is kept.
  fileprivate var signatureFile: WebURL {
    let query = query.map { "?\($0)" } ?? ""
    return (try? WebURL("\(scheme.rawValue)://\(authority)\(path).minisig\(query)")) ?? self
  }
}
