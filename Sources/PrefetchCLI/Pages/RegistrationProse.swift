/// What prefetch(1) says of the license on the wire.
enum RegistrationProse {
  static let before = [
    "A license is a key that says to its publisher who asks. Where the configuration has a `license` (or `PREFETCH_LICENSE` is set) and a `registration.url`, a run shows the key to that address before it asks for anything else, once for every key:"
  ]

  static let request = """
    POST /v1/register HTTP/1.1
    Host: license.example.com
    Authorization: Bearer KEY
    Content-Type: application/json

    {"bundle_id":"org.example.app","tool":{"name":"prefetch","version":"0.1.0"},
     "segments":["basics","extras"]}
    """

  static let answer = [
    "`segments` are the names of the segments that are subscribed, `bundle_id` is `null` where the configuration has none. The answer that registers is a 200 with a JSON object of at most 64 KiB; every member may be left out, and others are ignored:"
  ]

  static let reply = """
    {"token": "TEXT", "expires": "2027-06-30T00:00:00Z",
     "bundle_id": "org.example.app", "policy": {}}
    """

  static let after = [
    "From then on every request to the same scheme, host and port carries `Authorization: Bearer TOKEN`, or the key itself where no token was given: manifests, items, alternates and redirects that lead there alike. No request to any other origin carries either; a segment's own `Authorization` header takes its place. Once `expires` is past, the key is shown again. While the grant holds, `policy` narrows what the configuration allows, with the keys that `policy` has in prefetch-manifest(5); `prefetch config` shows it. The token is stored in the state, which only its owner may read; of the key only a hash is stored.",
    "401 or 403 is a refusal, and so is a `bundle_id` that differs from the configured one: requests to that origin are not sent, those to others are, and the run ends with 77. Nothing is asked again before the key (or, for a bundle, `bundle_id`) changes. Any other answer, an unreadable one, or none, leaves the license unregistered for now: requests to that origin are deferred by the rule `registration`, all others go on, and the run ends with 75. The next run after `registration.retry`, or after `Retry-After` where that is longer, or on another network, asks again. A certificate, pin or transport-security violation on the way ends with 5.",
    "The endpoint is under the same rules as every request: transport security, pins, proxies. Only a redirect with 307 or 308 that stays on its origin is followed. Over plain http, where that is excepted, the key is not sent through a proxy. A dry run, `get`, `--offline` and reading commands register nothing and use what is registered; until then they ask nothing of that origin. A token that the origin itself refuses with 401, 403 or 407 is `credentials_refused` (77); `prefetch register` gets a new one.",
    "While a license is loaded, the process can neither be debugged nor leave a core file, and `PREFETCH_LICENSE`, or whatever variable holds the key, is blanked in the process's environment, so that no child inherits it. Without a `registration.url` the key goes nowhere.",
  ]
}
