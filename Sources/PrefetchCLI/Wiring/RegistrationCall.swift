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
    var answer: RegistrationAnswer
    var requests: Int64 = 0
    var wireBytes: Int64 = 0
    var hasAnswer = false
  }

  /// Returns nil if the program was asked to stop.
  func perform() throws(Failure) -> Outcome? {
    let call = PostCall(
      url: setup.url,
      body: body,
      headers: [HeaderField("Authorization", "Bearer \(setup.key.value)")],
      server: "the registration server",
      cargo: "the license",
      policy: policy,
      settings: settings,
      clock: clock,
      patience: min(policy.deadline ?? Self.longest, Self.longest),
      objection: { Self.objection(to: $0, policy, at: $1) }
    )
    guard let outcome = try call.perform() else { return nil }
    return Outcome(
      answer: answer(outcome.answer),
      requests: outcome.requests,
      wireBytes: outcome.wireBytes,
      hasAnswer: outcome.hasAnswer
    )
  }

  /// Returns why the license may not be sent to a URL; nil if it may.
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

  private func answer(_ answer: Result<PostCall.Answer, Failure>) -> RegistrationAnswer {
    let now = clock.now().wall
    switch answer {
    case .failure(let failure): return .failed(failure)
    case .success(let answer) where answer.status == 200:
      return RegistrationReply.read(answer.body, at: now)
    case .success(let answer):
      return .status(
        answer.status,
        retryAfter: RetryAfter.pause(answer.retryAfter, now: now)
      )
    }
  }
}
