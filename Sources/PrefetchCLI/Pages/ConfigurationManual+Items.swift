extension ConfigurationManual {
  static let itemRules = [choice, freshness, variants, mirrors, streams, ads, passing, signatures]

  private static let choice = ConfigurationProse(
    title: "Choice of items",
    paragraphs: [
      "`include` takes the items that match one of its patterns, `exclude` leaves out those that match one of its patterns, and `keep: N` keeps the N newest of the rest. A pattern is compared with the published name of an item (`path`), else with the path of its URL, without percent-encoding and query. A pattern without a slash applies to the last part, a pattern with a slash to the whole path, with or without a slash at the start. `*`, `?` and `[a-z]` stay within one part, `**` crosses parts, `**/` may match none, and a slash at the end takes everything below. The newest items have the latest times of publication; without times the first of the list count as newest. An item that is left out does not belong to the segment: it is not fetched, and leaves the cache if it was there. The guards against shrunken manifests count before the choice, so a narrower pattern does not trigger them.",
      "`select: {name: NAME}` takes only the newest version of what `include` and `exclude` leave, `newest: N` the newest N. In NAME, `@v` is the version, which begins with a digit or with `v` and a digit, `@*` any text, and `@@` an at sign. A NAME without a slash is compared with the last part of a name, a NAME with a slash with all of it; names that do not match are not taken. Each text in place of `@*` is a group of its own: `tool-@v-@*.zip` takes the newest for each system. `order: version` compares as Python packages do (PEP 440), and a group with another kind of version naturally, so that 10 comes after 9. `semver`, `debian` and `natural` are other orders of versions; `date` compares the date in the version, else the one in the list. Pre-releases count as versions: `exclude` leaves them out. A list whose newest version is older than the last list's is refused (`manifest_guard`); `--allow rollback` accepts it once.",
      "`min_age: D` takes a new body only when it is that old; until then the item is deferred by `age` (75), or keeps its older body, which counts as success. `age_from: published` counts from the date that the list states (`upload-time`, `pubDate`, `lastmod`, the time of a release), and asks an npm registry for the dates that a lock file of npm, Yarn or pnpm lacks; it is the default for lock files and releases. `age_from: seen`, the default elsewhere and where there is no date, counts from the first run that saw the body. Another body under a known URL always counts from there. A run knows a body by its declared digest, else by the tag, or date and length, that a HEAD shows, else by fetching it, which it then does not do again before its time. `min_age_except` lists patterns, as in `include`, of items that need no age. A stream is judged by its playlist. What a lock file pins needs no age, and ads have none. `select` passes over versions that their list dates too late. An atomic tree is switched when all of its files are old enough. Runs in which items only wait for their age count as successes for `status`, and what left the list meanwhile goes after its grace. `--allow age` takes all once, and `prefetch explain ITEM` shows from when on an item is taken. Of a URL that a segment without `min_age` names too, all have what that segment brings.",
      "A manifest may have several documents: pages, the sitemaps of an index, the lists of a package index, the checksums of releases, the files of a hub's repository. A run requests each under the rules of the manifest, conditionally, and keeps it. If one of them cannot be fetched or read, the whole manifest fails, and the last good generation stays. At most 100 further pages, 1,000 sitemaps two levels deep and 10,000 packages or checksum lists are read. `cross_host` lets a format name other hosts if it may not by itself.",
    ],
    example: """
      segments:
        - name: toolchain
          manifest: https://dl.example.com/v1.2/SHA256SUMS
          include: ["*-linux-amd64.*", "docs/**"]
          exclude: ["*.asc"]
        - name: podcast
          manifest: https://media.example.com/feed.xml
          keep: 10
      """
  )

  private static let freshness = ConfigurationProse(
    title: "Freshness",
    paragraphs: [
      "You may declare the digest of an item in its own key, or after the URL: `https://example.org/x.iso#sha256=…`, also on the command line and in lists. The digest is never sent, and a body with another digest is not kept (5).",
      "A stored body with the digest that the manifest names is never requested. A run revalidates other items, conditionally, unless they are fresh. An item is fresh for the `max-age` or `Expires` of its answer, less the age of the answer on arrival (RFC 9111), unless `no-cache`, `no-store` or `Vary: *` forbids that. Nothing is guessed from `Last-Modified`, and `immutable` lasts no longer than the lifetime beside it.",
      "A `ttl` of the item, its segment or `cache.ttl` is the lifetime if the answer states none, counted from that answer, and an upper bound if it states more; the shortest of several holds. A `ttl` cannot make fresh what the server declares stale: `no-store`, `no-cache`, `max-age=0`, an `Expires` that is past or no date. An item with `ttl: immutable` is never revalidated; use it for URLs that are versioned by their names. A changed `ttl` applies at once.",
      "An item whose URL redirects is only as fresh as every redirect on the way. A redirect without a lifetime takes the `ttl`; without a `ttl` each run requests the URL, by its own name.",
      "`max_stale` lets a copy serve while its server does not answer, for at most that time after the copy became stale. Such items have the outcome `stale`, and a run that ends well with any of them prints one warning. `no-cache` and `must-revalidate` forbid a stale copy. `--offline` takes stored copies of any age, as `stale`.",
      "`prefetch explain URL` shows until when an item is fresh, and which of these rules decided.",
    ],
    example: nil
  )

  private static let variants = ConfigurationProse(
    title: "Answers that depend on headers",
    paragraphs: [
      "If the `Vary` of an answer names request headers, the answer serves only requests with the same values of these headers. After a change of the configuration the item is requested again, with its entity tag if that is a strong one. `Accept-Encoding` does not count, nor does the version in prefetch's own `User-Agent`. The cache keeps the values that were sent as a keyed digest.",
      "For `serve --pull` the headers of a client count like those of the configuration, and take precedence; `Cookie`, `Authorization`, `User-Agent` and others that describe the client do not. Behind a redirect to another server only `Accept`, `Accept-Language`, `DNT` and `Prefer` of a client are sent. A client never causes the stored item of a segment to be replaced.",
      "The cache holds one body for a URL. If two segments request one URL with different `headers`, the first has the body; if the answer depends on the difference, the item of the second fails as `unsupported`. A run requests an item of several segments once all their lists have arrived or failed, and no answer replaces a body that a digest of one of them pins. `prefetch check` warns of such segments.",
    ],
    example: nil
  )

  private static let mirrors = ConfigurationProse(
    title: "Mirrors",
    paragraphs: [
      "A run tries the URL of an item first, then the item's own `alternates`, then those of the segment, then those that the manifest names for itself. Alternates of a segment replace the base of the manifest, else scheme and host. The run tries the next place if one cannot be reached, lacks the item, or sends a body other than the declared one. Validators go only to the URL that gave them, and headers of the configuration only to the servers that it names. The report lists the tried places in `sources`."
    ],
    example: nil
  )

  private static let streams = ConfigurationProse(
    title: "Streams",
    paragraphs: [
      "An item of `type: hls`, or the one item of a segment with `format: hls`, is a stream: its playlist, the playlists that it names, and all their pieces. All of them are one item, for limits, removal and eviction too. The item appears as a whole when its last piece is stored; until then, and if a piece fails, the old stream stays. Each run requests the playlists, conditionally, and missing pieces. It revalidates stored pieces under `--revalidate`, and if their playlist has changed in anything but more pieces at the end, because a newly encoded film has other pieces under the same names. `--refetch` fetches each piece again. Pieces must meet `expect`; a key has 16 bytes, and a page, JSON or an empty body is not a piece. If a stream is interrupted or fails, its pieces wait unseen for the next run, as far as `cache.size` has room, unless the whole was too large. With `keep_partial` the beginning of a stream that never was complete, up to the first missing piece, is shown until then, in the state `partial`; the item still counts as failed or deferred.",
      "A run takes one variant of a playlist, among those within `max_bitrate`, `max_height` and `codecs`: with `variant: low` the lowest bit rate, with `high` the highest, with `medium` the middle one. Variants without a picture count only if there are no others. `auto` uses the measured speed of the variant's host: its bodies of 64 KiB and more in the last seven days, those of one run or `get` together. It takes the best of the three that downloads in two thirds of its playing time, and leaves a stored variant only if that downloads slower than it plays. An unchanged stream never gets worse. A later run takes a better variant if the speed allows it, if `cache.size`, `cache.min_free` and `max_file_size` have room for it beside the old stream, and if no limit of volume counts. If the better variant fails, the old stream stays as good as it was, and the next run continues. An interrupted download continues with its variant.",
      "Without measurements of the host, `auto` begins with `medium` and chooses again when the stream's own playlist has changed, by the seconds of its last download. After `low`, less than 2 seconds lead to `high` and less than 3 to `medium`; after `medium` the bounds are 3 and 5, after `high` 5 and 10. Any longer download leads to `low`. `auto` takes at most `low` on a network that `network.quality` measures as poor, and at most `medium` on a good one that could be excellent. Sound and subtitles come in `languages`, else as the stream prefers; players begin with the first available language. A variant that is named again for another server is an alternate of the first. `seconds` takes that much from the beginning, to the end of a piece; the item is then `partial`. Of a file that is named in ranges, only the ranges are requested.",
      "Players get a copy of the playlists that names only stored pieces. `prefetch serve` offers the copy at `/-/item/PROVIDER/ID/NAME.m3u8`, as `prefetch path ITEM --under BASE` prints it, and redirects the stream's own address there. A published tree has a folder for each stream: in layout `hls` by its provider and id, in `url` and `basename` by the name of its playlist. The names of pieces and inner playlists identify their bytes, so no name ever gets other bytes, and the first playlist is replaced last. A player that opens it gets the old film or the new one, even if a run was killed in between.",
      "If a run replaces a stream while a player uses it on `prefetch serve`, the player plays the old stream to its end. The old stream stays below `/-/item/PROVIDER/ID/@GENERATION/` until ten minutes after the last answer, unless `cache.size` needs its room first; then it is 410. If the cache cannot be written, `serve` reports that it cannot keep replaced streams.",
      "An item without a `type`, or of type `video` or `audio`, is a stream if its body begins with `#EXTM3U` and its media type agrees, or its name ends in `.m3u8` under an unspecific type. The item is an ad if its body is a `VAST` document of an XML type. From then on a run treats it as if `type: hls` or `type: vast` were declared. It stays a file under `type: file`, with a declared digest, in `prefetch mirror`, and in a segment that is published in a layout other than `hls`. If another segment with the same URL wants the file, it is a file for both.",
      "A stream without an end is `live` and refused, unless `live: snapshot` takes its present content. AES-128 keys are kept with it (`keys: skip` leaves them on the server); any other encryption is refused as `drm`. `key_ignore` names URL parameters, such as tokens, that do not distinguish pieces.",
    ],
    example: """
      segments:
        - name: lobby
          format: hls
          manifest: https://media.example.com/lobby/master.m3u8
          variant: high
          max_height: 1080
          languages: [en, de]
          publish: { dir: /srv/lobby, layout: hls }
      """
  )

  private static let ads = ConfigurationProse(
    title: "Ads",
    paragraphs: [
      "An item of `type: vast`, or the one item of a segment with `format: vast`, is the ad behind a tag (VAST 2 to 4): its film, captions, companions and icons, with `vast.extensions` the pictures of its extensions, and a document that describes them. A run follows five wrappers at most, with `[CACHEBUSTING]` and `[TIMESTAMP]` filled in. Companions that are pages (`HTMLResource`) are kept as `NAME.companion1.html`, up to 1 MiB each; frames and longer pages are left out and reported. All files are one item, as for a stream; companions, icons and captions may be missing. A run never requests a URL that counts: no impression, tracking, error or click URL, nor any URL inside a page. `NAME.json` has the data for players: duration, click-through, the version of the ad system (`system_version`) and the texts of extensions (`extensions`, by the names of their elements, without addresses). No report has these data. `event consume` counts quarters by that duration.",
      "A request for an ad counts too, so a run sends it only when the last ad is over: after the `ttl` of the item or segment, else an hour, whatever the servers state, and never in a dry run. `variant`, `max_bitrate`, `max_height` and `codecs` choose among the progressive media files with a type in `expect.mime`, else MP4 or WebM, ordered by their bit rates, else their sizes, else their areas. `auto` takes the stored file while it is the same film. If there is only a stream, it is kept as streams are. Mezzanines, programs for players and files with unknown macros are left out.",
      "`vast.zone` names an ad space, and the ad belongs to the space instead of a tag. All segments of one zone, in any configuration, share one ad; while it holds, no run requests their tags. The first segment that needs it requests its own tag with its own headers; if that fails, the next one requests its tag. Two zones of one tag have two ads. `list` and `explain` show one of the tags; the id is the zone.",
      "The files are `NAME.mp4` (or another type of film), `NAME.json`, `NAME.companion1.png` and so on; the second ad of a pod has `NAME.2.mp4`. NAME is `vast.zone`, else that of the item's `path`, its `id`, or the last part of the tag's path. A published tree has the files where the layout puts the tag, and `prefetch serve` below `/-/item/PROVIDER/ID/`. `prefetch path ITEM` prints the film of the first ad.",
      "A server without an ad is not a failure: the outcome is `empty`, a warning says so, and the last ad stays, unless `on_gone: remove` removes it. `fail_on_empty` makes it a failure. The report states the VAST number of an error as `error.vast`; nothing is sent to a server.",
    ],
    example: """
      segments:
        - name: lobby-ads
          format: vast
          manifest: https://ads.example.net/tag?zone=4711&cb=[CACHEBUSTING]
          vast: { zone: "4711" }
          publish: { dir: /srv/lobby, layout: basename }
      """
  )

  private static let passing = ConfigurationProse(
    title: "Warming another cache",
    paragraphs: [
      "With `store: false` a run requests the items of a segment only to fill a cache on the way. The run requests every item, without conditions, reads the answer, checks what is declared, counts the item, and keeps nothing. Bodies that the segment had stored before are neither used nor removed. `head: true` requests the headers alone and implies `store: false`; `store: true` beside it is an error. Segments with different `headers` each send their own requests, also for the same URL. A dry run requests the headers alone."
    ],
    example: """
      segments:
        - name: warm-avif
          manifest: https://www.example.com/sitemap.xml
          store: false
          headers: { Accept: image/avif }
      """
  )

  private static let signatures = ConfigurationProse(
    title: "Signed manifests",
    paragraphs: [
      "With `manifest_keys`, public keys as `minisign` prints them, a manifest counts only if one of them signed it. The signature is at the manifest's URL with `.minisig` added to the path, for a local file at FILE`.minisig`. It is asked for with each new list, and when the stored one has expired; a signature that was renewed beside an unchanged list is not asked for. A run verifies it before it reads anything of the manifest. `generated` and `expires` are required, in the manifest itself, or in the signed comment as `prefetch manifest sign` writes it: `timestamp:SECONDS`, `expires:SECONDS` between tabs. `manifest_expiry: optional`, a key for all segments, accepts lists without an expiry; plain `minisign` writes none. If the comment has `file:NAME`, NAME must be the manifest's own, unless the manifest names its `segment`. An unsigned, wrongly signed or expired manifest is a `signature` failure, a manifest older than the stored one a `rollback`; the run ends with 5, and nothing changes. If another guard refuses a signed manifest, the run ends with 5 as well.",
      "Every further document needs a signature too, and pages must have the same `generated` as the first. The lists of a package index need no signature if the signed manifest demands digests. An empty list for a segment lifts the keys that hold for all.",
    ],
    example: nil
  )
}
