import PrefetchCore
import PrefetchDocuments
import PrefetchSystem
import PrefetchTransfer

struct RegistrationCall {
  let setup: LicenseSetup
  let segments: [String]
  let policy: RunPolicy
  let settings: TransportSettings
  let clock: SystemClock

  struct Outcome {
    var response: RegistrationResponse
    var requests: Int64 = 0
    var wireBytes: Int64 = 0
    var hasResponse = false
  }

  func perform() throws(Failure) -> Outcome? {
    let call = PostCall(
      url: setup.url,
      body: body,
      headers: [HeaderField("Authorization", "Bearer \(setup.key.value)")],
      server: "the registration server",
      contentName: "the license",
      policy: policy,
      settings: settings,
      clock: clock,
      timeout: min(policy.deadline ?? Self.longest, Self.longest),
      objection: { Self.objection(to: $0, policy, at: $1) }
    )
    guard let outcome = try call.perform() else { return nil }
    return Outcome(
      response: response(outcome.result),
      requests: outcome.requests,
      wireBytes: outcome.wireBytes,
      hasResponse: outcome.hasResponse
    )
  }

  static func objection(
    to url: WebURL,
    _ policy: RunPolicy,
    at now: Instant
  ) -> Failure? {
    if let refusal = policy.refusal(of: url, for: .other, named: .local, at: now) {
      return refusal
    }
    // Later requests to that origin are checked when they are made.
    guard policy.connections.isReadByProxy(url, method: .post(body: [])) else { return nil }
    return .licenseInClear(host: url.host)
  }

  private static let longest: Duration = .seconds(60)

  private var body: [UInt8] {
    let tool: JSONValue = [
      "name": .string(ToolVersions.name), "version": .string(ToolVersions.version),
    ]
    let body: JSONValue = [
      "bundle_id": .optional(setup.bundleID), "tool": tool, "segments": .strings(segments),
    ]
    return JSONWriter.bytes(body)
  }

  private func response(_ response: Result<PostCall.Response, Failure>) -> RegistrationResponse {
    let now = clock.now().wall
    switch response {
    case .failure(let failure): return .failed(failure)
    case .success(let response) where response.status == 200:
      return RegistrationReply.read(response.body, at: now)
    case .success(let response):
      return .status(
        response.status,
        retryAfter: RetryAfter.pause(response.retryAfter, now: now)
      )
    }
  }
}
