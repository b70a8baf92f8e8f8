enum SecurityProse {
  static let sections = [transportSecurity, pins, redirects, transportRules]

  private static let transportSecurity = ConfigurationProse(
    title: "Transport security",
    paragraphs: [
      "As App Transport Security has it: https only, TLS 1.2, forward secrecy. Plain http is refused, also on loopback, without an exception. `allow_http: [nas.lan]` allows it to that host. `NSAllowsLocalNetworking: true` allows it to names without a dot, `.local` names and addresses of local networks, if the name leads to such an address. The rules hold for every request on every hop: manifests, items, alternates, registration.",
      "An entry is found by the exact host name, else at the nearest ancestor with `NSIncludesSubdomains`, any number of labels up; entries without it in between are passed over. Addresses find the narrowest range (`192.0.2.0/24`) that holds them; an address written as version 4 in version 6 counts as version 4. The entry that was found replaces everything, and keys that it lacks have their defaults: an empty one puts its host under the rules for all, whatever else is allowed. Names are written in lower case, without scheme, port, wildcard or final dot, in letters of any language or as `xn--`. A URL whose host ends with a dot is given no exception, but keeps its pins.",
      "An entry of `allow_http` holds for exactly that host, and for plain http alone: https to it is held to the rules for all, `netrc` is not sent to it in the clear, and a server out there may not lead to it on a local network. It may carry a `reason` and `expires`. A host that also has an entry under `NSExceptionDomains` is an error (78).",
      "Where no entry speaks of a host, `NSAllowsLocalNetworking`, `NSAllowsArbitraryLoadsForMedia` (items of type video, audio, hls), `NSAllowsArbitraryLoadsInWebContent` (items of type page) and `NSAllowsArbitraryLoads` lift the rules, in this order. If one of the first three is set, even to `false`, the last has no effect. What is let off still speaks TLS 1.2 where it speaks TLS, names under `NSAllowsLocalNetworking` with forward secrecy, and certificates are always verified.",
      "`NSExceptionMinimumTLSVersion` below `TLSv1.2` needs `legacy_tls: true` beside it. Once an exception's `expires` is past, its hosts are held to the rules for all, whatever it allowed: plain http to them fails (5), everything else continues, and `prefetch check` fails (78); it warns from 14 days before. `prefetch explain URL` names the entry that decides, and why.",
    ],
    example: """
      allow_http: [nas.lan]
      transport_security:
        NSExceptionDomains:
          legacy.example.com:
            NSExceptionAllowsInsecureHTTPLoads: true
            reason: the old camera cannot do TLS
            expires: 2027-03-31
      """
  )

  private static let pins = ConfigurationProse(
    title: "Pins",
    paragraphs: [
      "`tls.pins` (or `NSPinnedDomains`) names the public keys that a host must prove to have, as SHA-256 of their SubjectPublicKeyInfo: `leaf` its own, `ca` one of those above it in the verified chain. Where both are given both must match. An entry holds for its host and, with `subdomains`, for names exactly one label below; all entries that speak of a host add up. The chain is always verified as well, and no request is sent to a server that fails. With `report_only` a mismatch is only reported. A pin past its `expires` is ignored with a warning; `check` fails (78), and warns from 30 days before. `prefetch pins HOST` prints the keys of a host."
    ],
    example: nil
  )

  private static let redirects = ConfigurationProse(
    title: "Redirects and addresses",
    paragraphs: [
      "Redirects are followed hop by hop, and each hop is a request of its own under every rule. Validators and headers go to the origin they were meant for. A redirect to another scheme, to plain http from https, to another host where `cross_host: false`, or to a forbidden address is a violation of trust (5); too many, loops, and any where `follow: false` are failures.",
      "A host that the configuration names may be anywhere: in a URL of it, under `NSExceptionDomains` or `tls.pins`, or in a rule of `transport`. What a manifest or a redirect from a public address names may not lead to this machine or its networks, unless `NSAllowsLocalNetworking` is `true`; that is seen when the name has been looked up, before anything is sent. The address behind a proxy is not seen, so an answer through a proxy counts as public.",
      "A cookie that a server sets lives in memory for the transfer of one item: its redirects, and the playlists, keys and pieces of a stream. It is sent over https alone, to the host that set it, and to other hosts of its `Domain` only where the configuration names them. Path, `Max-Age` and `Expires` are obeyed. No cookie is stored, reported or sent to `cache.remote`; what came with one is not written there either.",
    ],
    example: nil
  )

  private static let transportRules = ConfigurationProse(
    title: "Transport rules",
    paragraphs: [
      "The first rule that matches a request applies. Its `match` is a pattern for the whole URL with its query, and may name a method. `*` matches within one part of the path, `**` across parts. The host part of a pattern is compared with the host and its port alone. A rule gives requests a proxy, a version of HTTP and further headers; headers that hold `${license}` are sent with manifests alone, and only to the origin that the configuration names. A host that only a redirect or a remote manifest names gets the headers of a rule only if the pattern holds that host: `https://*.corp.example/**` does, `**` does not."
    ],
    example: """
      transport:
        rules:
          - match: "https://*.corp.example/**"
            proxy: http://proxy.corp.example:3128
            headers: { Authorization: "Bearer ${env:CORP_TOKEN:-none}" }
      """
  )
}
