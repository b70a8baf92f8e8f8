import PrefetchConfig
import PrefetchCore
import PrefetchCrypto
import PrefetchSystem
import PrefetchTransfer

/// Checks of `doctor` for the shared store: requests and, where runs write, stores the empty body.
///
/// Only the empty body is safe to leave behind: it takes no room, stays valid and reveals nothing.
struct DoctorTier {
  let builder: RequestBuilder
  let clock: SystemClock

  private static let name = "tier"

  var findings: [DoctorFinding] {
    let policy = builder.policy
    let settings = policy.tier
    guard let url = settings.url, let base = RequestBuilder.base(url, settings.kind) else {
      return []
    }
    let probe = Probe(
      settings: settings,
      url: base,
      host: base.authority,
      transportSettings: builder.transportSettings(),
      clock: clock,
      addTerms: builder.equipment(settings, clock),
      provesItself: settings.kind == .s3
        ? builder.bucketSignature(settings) != nil
        : settings.credentials != nil || !settings.headers.isEmpty
    )
    if let objection = policy.refusal(of: base, for: .other, named: .local, at: clock.now().wall) {
      return [DoctorFinding(Self.name, "\(probe.host): \(objection.message)", trouble: .trust)]
    }
    do throws(Failure) {
      return try probe.findings()
    } catch {
      return [probe.finding(error)]
    }
  }

  private struct Probe {
    let settings: TierSettings
    let url: WebURL
    let host: String
    let transportSettings: TransportSettings
    let clock: SystemClock
    let addTerms: (inout TransferRequest, ContentDigest) -> Void
    /// Whether requests carry credentials.
    let provesItself: Bool

    private static let digest = SHA256.digest(of: [])

    func findings() throws(Failure) -> [DoctorFinding] {
      let transport = try CurlTransport(
        settings: transportSettings,
        staging: ReplyStaging(),
        clock: clock
      )
      defer { transport.finish() }
      var exchange = try send(transport, .get, number: 1)
      // A wrong clock may be the cause of the other findings.
      var findings = clockFindings(exchange.response)
      // A machine that only writes may lack the right to read.
      if settings.isRead, let objection = objection(toReading: exchange.response) {
        return findings + [wrong(objection)]
      }
      if settings.isWritten {
        // Sent over an established connection, like most requests of a run.
        exchange = try send(transport, .put(.bytes([])), number: 2)
        if let objection = objection(toWriting: exchange.response.status) {
          return findings + [wrong(objection)]
        }
      }
      if exchange.elapsed * 2 > settings.timeout {
        findings.append(
          .doubtful(
            DoctorTier.name,
            "\(host) took \(exchange.elapsed.milliseconds) ms for a request without a body, more than "
              + "half of `cache.remote.timeout`; a run waits as long for each"
          )
        )
      }
      let rights =
        switch settings.mode {
        case .read: "may be read"
        case .write: "may be written"
        case .readWrite: "may be read and written"
        }
      let trust = settings.isRead && settings.isTrusted ? ", and is trusted" : ""
      return findings + [DoctorFinding(DoctorTier.name, "\(host) \(rights)\(trust)")]
    }

    private func send(
      _ transport: CurlTransport,
      _ method: TransferRequest.Method,
      number: Int
    ) throws(Failure) -> (response: TransferResponse, elapsed: Duration) {
      let path =
        "\(url.string)\(url.string.hasSuffix("/") ? "" : "/")cas/\(Self.digest.hexadecimal)"
      var request = TransferRequest(
        id: TransferID(number),
        method: method,
        url: (try? WebURL(path)) ?? url
      )
      request.allowsCoding = false
      request.idleTimeout = settings.timeout
      // A longer answer is not the empty body.
      request.sizeLimit = 64 << 10
      addTerms(&request, Self.digest)
      let begin = clock.now().uptime
      // Bounds a slow trickle of bytes.
      let end = begin + settings.timeout * 2 + .seconds(10)
      transport.start(request)
      while clock.now().uptime < end, StopSignals.pending == nil {
        for case .finished(_, let result) in transport.wait(until: end) {
          switch result.outcome {
          case .success(let response): return (response, clock.now().uptime - begin)
          case .failure(let failure): throw failure
          }
        }
      }
      throw Failure(.timeout, "it took too long to answer")
    }

    // MARK: What is wrong

    func finding(_ failure: Failure) -> DoctorFinding {
      guard failure.code.category != .trust else {
        return DoctorFinding(DoctorTier.name, "\(host): \(failure.message)", trouble: .trust)
      }
      return wrong("cannot be asked: \(failure.message)")
    }

    private func wrong(_ what: String) -> DoctorFinding {
      settings.isRequired
        ? DoctorFinding(DoctorTier.name, "\(host) \(what)", trouble: .unavailable)
        : .doubtful(DoctorTier.name, "\(host) \(what)")
    }

    private func objection(toReading response: TransferResponse) -> String? {
      switch response.status {
      case 404, 410: nil
      case 200 where response.body?.size == 0: nil
      case 200:
        "sends other bytes for the empty body; `cache.remote.url` names another kind of server"
      default: objection(to: response.status, doing: "a question for a body")
      }
    }

    private func objection(toWriting status: Int) -> String? {
      switch status {
      case 200...299, 412: nil
      case 404, 405, 409, 501:
        "answered \(status) to a body, so it takes none there; let it (nginx: `dav_methods PUT; "
          + "create_full_put_path on;`), or set `cache.remote.mode: read`"
      case 401, 403:
        "\(settings.isRead ? "may be read, and " : "")answered \(status) to a body\(remedy), "
          + "or set `cache.remote.mode: read`"
      case 413, 507: "answered \(status) to a body without a byte; it is full"
      default: objection(to: status, doing: "a body")
      }
    }

    private func objection(to status: Int, doing what: String) -> String {
      switch status {
      case 401, 403: "answered \(status) to \(what)\(remedy)\(listing)"
      case 300..<400:
        "answered \(status) to \(what), and redirects of it are not followed; let "
          + "`cache.remote.url` say where it is"
      case 429, 500...: "answered \(status) to \(what); its server has a fault"
      default:
        "answered \(status) to \(what); `cache.remote.url` names another kind of server"
      }
    }

    private var remedy: String {
      switch (settings.kind, provesItself) {
      case (.http, true): "; look at `cache.remote.credentials`"
      case (.http, false): " without credentials; set `cache.remote.credentials`"
      case (.s3, true):
        "; look at `cache.remote.credentials` and `region`"
      case (.s3, false):
        " that nothing signed; set `cache.remote.credentials`, or `AWS_ACCESS_KEY_ID` and "
          + "`AWS_SECRET_ACCESS_KEY`"
      }
    }

    /// Hint at the right to list: without it a bucket answers 403 for objects that do not exist.
    private var listing: String {
      settings.kind == .s3 ? ", and whether they may list the bucket" : ""
    }

    /// Compares the clocks: other machines judge the stored answers by their own.
    private func clockFindings(_ response: TransferResponse) -> [DoctorFinding] {
      let now = clock.now().wall
      guard let text = response.headers["Date"], let theirs = HTTPDate.parse(text) else {
        return []
      }
      let ahead = theirs - now
      guard abs(ahead.milliseconds) > Self.tolerance.milliseconds else { return [] }
      let minutes = abs(ahead.milliseconds) / 60_000
      let refusal = settings.kind == .s3 ? ", and a bucket refuses what is signed so" : ""
      return [
        .doubtful(
          "clock",
          "that of \(host) is \(minutes) minutes \(ahead < .zero ? "behind" : "ahead of") this "
            + "machine's\(refusal); set the one that is wrong"
        )
      ]
    }

    private static let tolerance: Duration = .seconds(120)
  }
}
