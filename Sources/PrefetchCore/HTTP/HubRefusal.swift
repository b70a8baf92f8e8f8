/// Words for the refusals of a hub, which states more than a status in its header `X-Error-Code`.
enum HubRefusal {
  private static let header: HeaderName = "X-Error-Code"

  /// Returns the failure of a response from the hub itself; nil if the status says all.
  static func failure(_ response: TransferResponse, hasCredentials: Bool) -> Failure? {
    let status = response.status
    guard [401, 403, 404].contains(status) else { return nil }
    let refused: ErrorCode = hasCredentials ? .credentialsRefused : .http
    switch response.headers[header] {
    case "GatedRepo":
      return Failure(
        refused,
        hasCredentials
          ? "the repository is gated, and the account of the token has no access (\(status)); ask for it on the page of the repository"
          : "the repository is gated (\(status)); accept its terms on its page, and set a token of that account in `HF_TOKEN`"
      )
    case "RevisionNotFound":
      let advice = "correct the text after `@`"
      return Failure(.gone, "the repository has no such revision (\(status)); \(advice)")
    case "EntryNotFound":
      return Failure(.gone, "the revision has no such file (\(status))")
    case "RepoNotFound" where hasCredentials || status == 404:
      return Failure(
        status == 404 ? .gone : .credentialsRefused,
        "the hub shows no such repository to this account (\(status)); correct its name, or give a token that may read it"
      )
    default: break
    }
    guard status == 401 else { return nil }
    return Failure(
      refused,
      hasCredentials
        ? "the hub refuses the token (401); it may have expired"
        : "the hub wants a token (401), or has no such repository; correct its name, or set `HF_TOKEN`"
    )
  }
}
