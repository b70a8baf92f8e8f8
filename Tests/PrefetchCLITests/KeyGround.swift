/// A configuration in which every key has a value that is not its default.
enum KeyGround {
  static let text = """
    version: 1
    name: everything
    license: the-license-key
    bundle_id: org.example.app
    enabled: false
    subscriptions: remembered
    include: [more.json]
    vars: {agent: other}
    features: {precaching: false, pull_through: false, analytics: false}
    manifests: https://m.example/{segment}.json
    manifest_keys: [RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3]
    accept: [incomplete]
    lockfile: /there/other.lock
    registration: {url: https://license.example/, retry: 5m}
    notify: {marker: ours}
    state: {dir: /there/state}
    hooks:
      run.finished: {run: [logger, x], timeout: 10s, required: true}
    defaults: {max_stale: 3h}
    download:
      behavior: thumbnails
      retry_failed: false
      items_per_category: 3
      categories: {news: false}
      sources: {agency: false}
      ranges: 3
    \(network)
    \(trust)
    cache:
      dir: /there/cache
      lower: [/there/base]
      size: 10GB
      max_file_size: 20MB
      max_manifest_size: 2MB
      min_free: 2GiB
      ttl: 7d
      negative_ttl: 90s
      max_stale: 1d
      durability: each
      purge: {auto: false, order: [lru], max_fraction: 0.25, grace: 1d}
      network_filesystem: single
      shared: true
      remote:
        url: https://tier.example/cache
        kind: s3
        mode: read_write
        trust: true
        share: all
        required: true
        timeout: 3s
        headers: {X-Team: media}
        region: eu-central-1
        credentials: tier-key:tier-secret-words
    report: {format: json, files: {md: /there/report.md}, items: all, history: 20}
    analytics:
      enabled: true
      endpoint: https://stats.example/
      queue: 5000
      keep: 3d
      metrics: {shop: [https://shop.example/cart]}
    segments:
    \(segments)
    """

  private static let network = """
    network:
      type: wifi
      allow: [wifi]
      metered: defer
      unknown_metered: defer
      windows: [01:00-05:30]
      timezone: UTC
      power: ac
      battery_floor: 20
      concurrency: 3
      per_host: 2
      rate: 3MB/s
      rate_per_host: 2MB/s
      daily_limit: {any: 4MB, ethernet: 3MB, wifi: 2MB, cellular: 1MB}
      monthly_limit: {any: 40MB, ethernet: 30MB, wifi: 20MB, cellular: 10MB}
      http: 2
      proxy: http://me:secret-word@proxy.example:3128
      netrc: true
      user_agent: "${var:agent}/1"
      probe: [./probe]
      retries:
        {items: 4, lookups: 2, lookup_delay: 2s, delay: 500ms, max_delay: 20s, wait: 90s, statuses: [403]}
      timeouts: {connect: 5s, read: 20s, item: 1h, run: 2h}
      quality: {good: 1MB/s, excellent: 10MB/s, on: {poor: stop}}
    redirects: {follow: false, max: 4, cross_host: false, downgrade: true}
    transport:
      rules:
        - match: {url: "https://*.corp.example/**", method: HEAD}
          proxy: none
          headers: {X-Rule: one}
          http: 1.1
    """

  private static let digest = "r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E="

  private static let trust = """
    tls:
      min_version: 1.3
      ca_file: /there/ca.pem
      ca_dir: /there/ca
      pins:
        a.example:
          subdomains: true
          leaf: [\(digest)]
          ca: [\(digest)]
          report_only: true
          expires: 2037-06-30
      client: {b.example: {certificate: /there/c.pem, key: /there/c.key}}
    hosts: ['*.example']
    manifest_expiry: optional
    allow_http:
      - host: nas.example
        reason: it is old
        expires: 2037-06-30
    transport_security:
      NSAllowsArbitraryLoads: true
      NSAllowsArbitraryLoadsForMedia: true
      NSAllowsArbitraryLoadsInWebContent: true
      NSAllowsLocalNetworking: true
      NSExceptionDomains:
        c.example:
          NSIncludesSubdomains: true
          NSExceptionAllowsInsecureHTTPLoads: true
          NSExceptionMinimumTLSVersion: TLSv1.0
          NSExceptionRequiresForwardSecrecy: false
          NSRequiresCertificateTransparency: true
          legacy_tls: true
          reason: it is old
          expires: 2037-06-30
      NSPinnedDomains:
        d.example:
          NSIncludesSubdomains: true
          NSPinnedLeafIdentities: [{SPKI-SHA256-BASE64: \(digest)}]
          NSPinnedCAIdentities: [{SPKI-SHA256-BASE64: \(digest)}]
    """

  private static let rules =
    "{allow: [ethernet], metered: defer, unknown_metered: defer, windows: [02:00-03:00], "
    + "timezone: local, power: ac, battery_floor: 30, rate: 2MB/s, "
    + "daily_limit: {any: 4MB, ethernet: 3MB, wifi: 2MB, cellular: 1MB}, "
    + "monthly_limit: {any: 40MB, ethernet: 30MB, wifi: 20MB, cellular: 10MB}, "
    + "quality: {good: 1MB/s, excellent: 10MB/s, on: {poor: stop}}}"

  private static let sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  private static let sha384 = "H8BRh8j48O9oYatfu5AZzq6A9RINhZO5H16dQZngK7T62em8MUt1FLm52t+eX6xO"
  private static let sha512 = sha256 + sha256

  private static let segments = """
    - name: listed
      manifest: https://m.example/list.json
      format: json
      required: false
      headers: {X-Segment: one, X-Key: "${license}"}
      priority: 5
      initial: true
      alternates: [https://mirror.example/]
      include: ["*.pdf"]
      exclude: ["*draft*"]
      omit: [dev]
      platform: [linux]
      select: {name: "tool-@v.tar.gz", newest: 2, order: semver}
      keep: 10
      min_age: 2d
      min_age_except: ["*.sig"]
      age_from: published
      publish: {dir: /there/tree, layout: basename, link: copy, atomic: true, keep_generations: 3, times: server, mode: 0640, adopt: true}
      ttl: 2h
      max_stale: 2d
      max_file_size: 10MB
      require_digest: true
      expect: {mime: [image/png], min_size: 10, max_size: 20MB, magic: PNG}
      allow_empty: true
      fail_on_empty: true
      on_gone: remove
      honor_no_store: true
      rate: 1MB/s
      behavior: none
      cross_host: true
      trust_lastmod: true
      manifest_keys: []
      variant: low
      max_bitrate: 4Mbps
      max_height: 720
      codecs: [avc1]
      languages: [en]
      seconds: 600
      live: snapshot
      keys: skip
      key_ignore: [token]
      keep_partial: true
      strict: true
      json: {items: /files/*, url: [/file], sha256: /sum, size: /size, path: /name, base: https://json.example/}
      npm: {registry: https://npm.example/}
      pip: {index: https://pip.example/}
      go: {proxy: https://go.example/}
      cargo: {download: "https://crates.example/{crate}", index: https://index.example/}
      vast: {extensions: true}
    - {name: ad, initial: true, manifest: https://ads.example/tag, format: vast, vast: {zone: top}}
    - {name: released, initial: true, manifest: "github:acme/tool@v1", api: https://git.example/api/v3}
    - {name: modelled, initial: true, manifest: "hf:acme/tiny", hf: {endpoint: https://hub.example/}}
    - {name: found, initial: true}
    - {name: left, urls: [https://h.example/left]}
    - {name: warm, initial: true, store: false, urls: [https://h.example/warm]}
    - {name: asked, initial: true, head: true, urls: [https://h.example/asked]}
    - name: named
      initial: true
      base: https://h.example/below/
      network: \(rules)
      urls:
        - url: slides.pdf
          id: slides
          provider: agency
          type: page
          title: Slides
          info: {pages: 41}
          size: 1500
          digests: {md5: 0cc175b9c0f1b6a831c399e269772661}
          integrity: sha384-\(sha384)
          sha256: \(sha256)
          sha512: \(sha512)
          mtime: 2026-11-20T05:00:00Z
          etag: '"v1"'
          mime: application/pdf
          ttl: 5m
          expires: 2037-06-30
          priority: 5
          required: false
          network: \(rules)
          alternates:
            - {url: https://mirror.example/slides.pdf, priority: 2}
            - {url: https://third.example/slides.pdf, priority: 1}
          categories: [news]
          thumbnail:
            url: https://h.example/thumb.jpg
            size: 5321
            mime: image/jpeg
            digests: {md5: 0cc175b9c0f1b6a831c399e269772661}
            integrity: sha384-\(sha384)
            sha256: \(sha256)
          seconds: 30
          headers: {X-Item: one}
          path: talks/slides.pdf
    """
}
