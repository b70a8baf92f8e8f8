import PrefetchCore
import PrefetchDocuments
import PrefetchManifests

enum RegistrationReply {
  private static let largest = PostCall.largestReply

  /// Parses a reply; messages never quote it, since it may repeat the license.
  static func read(_ bytes: [UInt8], at now: Instant) -> RegistrationResponse {
    var limits = DocumentReader.Limits()
    limits.bytes = largest
    limits.depth = 16
    let outcome = DocumentReader.read(bytes, source: "reply", syntax: .json, limits: limits)
    guard outcome.diagnostics.isEmpty, let node = outcome.node, node.mapping != nil else {
      return failed("is not a JSON object")
    }
    var grant = RegistrationRecord.Grant(since: now)
    if let token = present(node["token"]) {
      guard let text = string(token), isToken(text) else {
        return failed("has an unusable `token`")
      }
      grant.token = Secret(text)
    }
    if let bundle = present(node["bundle_id"]) {
      guard let text = string(bundle) else { return failed("has an unusable `bundle_id`") }
      grant.bundleID = text
    }
    if let expires = present(node["expires"]) {
      guard let time = string(expires).flatMap({ Timestamp.parse($0) }) else {
        return failed("has an `expires` that is not an RFC 3339 time")
      }
      guard now < time else { return failed("has expired already; is the clock right?") }
      grant.expires = time
    }
    if let policy = present(node["policy"]) {
      guard policy.mapping != nil else { return failed("has a `policy` that is not an object") }
      let text = JSONWriter.string(JSONValue(policy))
      do throws(Failure) {
        _ = try PublisherPolicy(json: text)
      } catch {
        return .failed(
          Failure(.badResponse, "the policy in the answer could not be read (\(error.message))")
        )
      }
      grant.policy = text
    }
    return .granted(grant)
  }

  private static func failed(_ reason: String) -> RegistrationResponse {
    .failed(Failure(.badResponse, "the answer of the registration server \(reason)"))
  }

  private static func present(_ node: Node?) -> Node? {
    node?.scalar?.kind == .null ? nil : node
  }

  private static func string(_ node: Node) -> String? {
    guard let scalar = node.scalar, scalar.kind == .string else { return nil }
    return scalar.text
  }

  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 8_192 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
