enum SecurityProse {
  static let sections = [transportSecurity, pins, redirects, transportRules]

  private static let transportSecurity = ConfigurationProse(
    title: "Transport security",
    paragraphs: [
      "The rules are those of App Transport Security: https only, TLS 1.2 or newer, forward secrecy. The rules hold for every request on every hop: manifests, items, alternates, registration. Plain http needs an exception, also on loopback. `allow_http: [nas.lan]` allows plain http to that host. `NSAllowsLocalNetworking: true` allows plain http to addresses of local networks, and to names without a dot and `.local` names that resolve to such an address.",
      "An entry of `NSExceptionDomains` covers its exact host name, and with `NSIncludesSubdomains` all names below. Only one entry applies: the exact name, else the nearest ancestor with `NSIncludesSubdomains`. An address takes the narrowest range (`192.0.2.0/24`) that contains it; an IPv4 address written as IPv6 counts as IPv4. Keys that the entry lacks have their defaults, so an empty entry puts its host under the strict rules, whatever else is allowed. Write names in lower case, without scheme, port, wildcard or final dot, in letters of any language or as `xn--`. A URL whose host ends with a dot gets no exception, but keeps its pins.",
      "An entry of `allow_http` covers exactly that host, and only plain http: https to the host follows the strict rules, and `network.netrc` sends nothing to it in the clear. Redirects and lists of public servers may not name that host if it is in a local network. The entry may have a `reason` and `expires`. A host with an entry in both `allow_http` and `NSExceptionDomains` is an error (78).",
      "If no entry covers a host, these keys lift the rules, in this order: `NSAllowsLocalNetworking`, `NSAllowsArbitraryLoadsForMedia` (items of type video, audio, hls), `NSAllowsArbitraryLoadsInWebContent` (items of type page), `NSAllowsArbitraryLoads`. If one of the first three is set, even to `false`, the last has no effect. TLS connections still need TLS 1.2, local names still need forward secrecy, and certificates are always verified.",
      "`NSExceptionMinimumTLSVersion` below `TLSv1.2` needs `legacy_tls: true` in the same entry. After its `expires` date an exception has no effect: plain http to its hosts fails (5), and everything else continues. `prefetch check` warns from 14 days before that date, and fails (78) after it. `prefetch explain URL` names the entry that decides, and why.",
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
      "`tls.pins` (or `NSPinnedDomains`) lists the public keys that a host must prove to have, as SHA-256 of their SubjectPublicKeyInfo. `leaf` lists keys of the host itself, `ca` keys above it in the verified chain. If a pin has both lists, both must match. A pin covers its host and, with `subdomains`, names exactly one label below. All pins that cover a host add up. The chain is always verified as well, and a server that fails gets no request. With `report_only` a mismatch is only reported. After its `expires` date a pin is ignored with a warning, and `check` fails (78); `check` warns from 30 days before. `prefetch pins HOST` prints the keys of a host."
    ],
    example: nil
  )

  private static let redirects = ConfigurationProse(
    title: "Redirects and addresses",
    paragraphs: [
      "A run follows redirects hop by hop, and each hop is a request under every rule. Validators and headers go only to the origin that they belong to. A redirect is a trust violation (5) if it leads to another scheme, from https to plain http, to another host under `cross_host: false`, or to a forbidden address. Too many redirects, loops, and any redirect under `follow: false` are failures.",
      "A host that the configuration names may have any address. The name may be in a URL, under `NSExceptionDomains` or `tls.pins`, or in a rule of `transport`. A host named by a manifest or a redirect from a public address may not be on this machine or its networks, unless `NSAllowsLocalNetworking` is `true`. The run checks the address after the name lookup and before it sends anything. Behind a proxy it cannot see the address, so an answer through a proxy counts as public.",
      "A cookie stays in memory for the transfer of one item: its redirects, and the playlists, keys and pieces of a stream. The cookie is sent over https alone, to the host that set it; other hosts of its `Domain` get it only if the configuration names them. Path, `Max-Age` and `Expires` are obeyed. No cookie is stored, reported or sent to `cache.remote`, and a body that came with a cookie is not written there.",
    ],
    example: nil
  )

  private static let transportRules = ConfigurationProse(
    title: "Transport rules",
    paragraphs: [
      "The first rule that matches a request applies. Its `match` is a pattern for the whole URL with its query, and may also name a method. `*` matches within one part of the path, `**` across parts. The host part of a pattern is compared only with host and port. A rule can set a proxy, a version of HTTP and further headers. Headers with `${license}` go only to the origin that the configuration names, and only with manifest requests. Redirects and remote manifests can name further hosts. Such a host gets a rule's headers only if the pattern names the host, as `https://*.corp.example/**` does and `**` does not."
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
