extension ConfigurationManual {
  static let itemRules = [choice, freshness, variants, mirrors, streams, ads, passing, signatures]

  private static let choice = ConfigurationProse(
    title: "Choice of items",
    paragraphs: [
      "`include` takes the items that one of its patterns matches, `exclude` leaves out those that one of its patterns matches, and `keep: N` keeps the N newest of the rest. A pattern is held against the published name of an item (`path`), or else against the path of its URL, without percent-encoding and query. One without a slash is about the last part, one with a slash about the whole path, whether or not it begins with one: `*`, `?` and `[a-z]` stay within one part, `**` goes over several, `**/` also over none, and a slash at the end takes everything below. The newest are those with the latest time of publication; without times the first of the list count. What is left is not an item of the segment: it is not fetched, and leaves the cache when it was there. The guards against shrunken manifests count before the choice, so that a narrower pattern is not a mishap.",
      "A manifest may consist of several documents: pages, the sitemaps of an index, the lists of a package index. Each is asked for under the same rules as the manifest, conditionally, and kept. If one of them cannot be had or read, the manifest as a whole has failed, and the last good generation stays. At most 100 further pages, 1,000 sitemaps two levels deep and 10,000 packages are read. `cross_host` lets formats name other hosts that by themselves may not.",
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
      "A digest of an item is beside its URL, or after it: `https://example.org/x.iso#sha256=…`, also on the command line and in lists. It is never sent, and a body that has another one is not kept (5).",
      "What a manifest pins by a digest that is stored is never requested. Other items are revalidated in each run, conditionally, unless they are fresh: as long as `max-age` or `Expires` of the answer says, less the age it came with (RFC 9111), where neither `no-cache`, `no-store` nor `Vary: *` forbids it. Nothing is guessed from `Last-Modified`, and `immutable` lasts no longer than the lifetime beside it.",
      "A `ttl`, of the item, its segment or `cache.ttl`, is what the declarer grants: the lifetime where the answer states none, counted from that answer, and a bound where it states more; the shortest of several holds. It cannot make fresh what the server says is not: `no-store`, `no-cache`, `max-age=0`, an `Expires` that is past or no date. `ttl: immutable`, of an item, needs no question ever; it is for URLs that are versioned by their names. A changed `ttl` holds at once.",
      "What is stored under a URL that redirects is only as fresh as every redirect on the way: one that states no lifetime takes the `ttl`, and without a `ttl` means that each run asks for the URL, by its own name.",
      "`max_stale` lets a copy stand in while its server cannot be asked, for so long after it became stale; such items have the outcome `stale`, and a run that ends well with any says so in one warning. `no-cache` and `must-revalidate` forbid it. `--offline` takes what is stored however old it is, as `stale`.",
      "`prefetch explain URL` tells until when an item is fresh and which of these rules decided.",
    ],
    example: nil
  )

  private static let variants = ConfigurationProse(
    title: "Answers that depend on headers",
    paragraphs: [
      "Where an answer says in `Vary` that it depends on headers of the request, it serves only requests that say the same there; after a change of the configuration it is requested again, with its entity tag if that is a strong one. `Accept-Encoding` does not count, and of our own `User-Agent` the version does not. What was sent is kept as a keyed digest.",
      "For `serve --pull` the headers of a client count like those of the configuration, and before them; `Cookie`, `Authorization`, `User-Agent` and others that are about the client do not. Behind a redirect to another server only `Accept`, `Accept-Language`, `DNT` and `Prefer` of a client are sent. The stored item of a segment is never replaced for a client.",
      "The cache holds one body for a URL. Of two segments that ask for one URL with different `headers` the first has it; where the answer depends on what differs, the item of the second fails as `unsupported`. A run asks about an item that several segments hold once the lists of all of them have come or failed, and no answer takes the place of a body that a digest of one of them pins. `prefetch check` warns of such segments.",
    ],
    example: nil
  )

  private static let mirrors = ConfigurationProse(
    title: "Mirrors",
    paragraphs: [
      "An item is looked for at its URL first, then at its own `alternates`, then at those of the segment, which stand for the base of the manifest or else for scheme and host, then at those that the manifest names for itself. The next place is tried when one cannot be reached, says that it does not have it, or serves something that is not what was declared. Validators are sent only to the URL that gave them, and headers of the configuration only to the servers that it names. The report tells each place that was tried, in `sources`."
    ],
    example: nil
  )

  private static let streams = ConfigurationProse(
    title: "Streams",
    paragraphs: [
      "An item of `type: hls`, or the one item of a segment with `format: hls`, is a stream: its playlist, the playlists that this names, and all their pieces. They are one item: it appears as a whole in the moment in which the last piece is here, the old whole stays until then and where a piece cannot be had, and limits, removal and eviction hold for all of it together. Each run asks for its playlists, conditionally, and for pieces that it does not have. A stored piece is revalidated where its playlist has changed in anything but more pieces at the end, since a film that was encoded again has others under the same names, and under `--revalidate`; `--refetch` fetches each again. Pieces are held to `expect`, a key has 16 bytes, and a page, JSON or nothing at all is not a piece. What came of a stream that was interrupted or failed waits unseen for the next run, as far as `cache.size` has room for it, unless the whole was too large. With `keep_partial` the beginning of a stream that never was whole, up to the first piece that is not here, is shown until then, in the state `partial`; the item still counts as failed or deferred.",
      "Of a playlist of variants one is taken: by `variant` the one of the least bits a second (`low`), the one in the middle (`medium`) or the one of the most (`high`), among those within `max_bitrate`, `max_height` and `codecs`; variants without a picture count only where there are no others. `auto` goes by how fast the bodies of the variant's host came in the last seven days, all those of 64 KiB and more in a run or `get` together: it takes the best of the three that comes in two thirds of the time that it plays, and leaves one that is here only where the line does not bring it as fast as it plays. A stream that has not changed is never made worse; it gets a better variant in a later run where the line brings that, `cache.size`, `cache.min_free` and `max_file_size` have room for it beside the old whole, and no limit of volume counts. One that does not come leaves the old whole as good as it was, and is continued in the next run. What was begun of a variant and broke off continues with that variant. Where nothing is known of the host, `auto` begins with `medium` and chooses again when the stream's own playlist has changed, by how long its last download took: after `low` less than 2 seconds make it `high` and less than 3 `medium`, after `medium` less than 3 and 5, after `high` less than 5 and 10; whatever took longer makes it `low`. On a network that `network.quality` measures as poor it is `low` at the most, on one that is good and could be excellent `medium`. Sound and subtitles come in `languages`, else as the stream itself prefers; players begin with the first language of `languages` that there is. A variant that is named a second time for another server is another place of the first. `seconds` takes as much from the beginning, to the end of a piece; the item is then `partial`, and of a file that is named in ranges only these are requested.",
      "What plays is a copy of the playlists that names the stored pieces and nothing else: `prefetch serve` has it at `/-/item/PROVIDER/ID/NAME.m3u8`, as `prefetch path ITEM --under BASE` prints it, and leads there from the stream's own address. A published tree has a folder for each stream, in layout `hls` by its provider and id, in `url` and `basename` by the name of its playlist. Names of pieces and of the playlists below the first say what their bytes are, so that none ever has the bytes of others, and the first playlist is replaced last: a player that opens it gets the old film or the new one, even where a run was killed in between.",
      "Who plays a stream from `prefetch serve` while a run replaces it plays the old one to its end: everything of it is below `/-/item/PROVIDER/ID/@GENERATION/`, and stays there until ten minutes after the last answer, unless `cache.size` needs its room first; then it is 410. Where the cache cannot be written, `serve` says that it cannot keep what is replaced.",
      "An item without a `type`, or of type `video` or `audio`, is a stream where its body begins with `#EXTM3U` and its media type, or a name in `.m3u8` under a type that says nothing, agrees; it is an ad where its body is a `VAST` document of an XML type. From then on it is treated as if `type: hls` or `type: vast` were declared. It stays the file it is under `type: file`, where a digest is declared, in `prefetch mirror`, and in a segment that is published in a layout other than `hls`. Where another segment that names the same URL wants the file, it is a file for both.",
      "A stream without an end is `live` and refused, unless `live: snapshot` takes what is there at the moment. Keys of AES-128 are kept with it (`keys: skip` leaves them where they are); any other encryption is refused as `drm`. `key_ignore` names parameters of URLs, such as tokens, that do not tell pieces apart.",
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
      "An item of `type: vast`, or the one item of a segment with `format: vast`, is the ad behind a tag (VAST 2 to 4): its film, captions, companions and icons, with `vast.extensions` the pictures that its extensions name, and a document that says what is what. Wrappers are followed, five at the most, with `[CACHEBUSTING]` and `[TIMESTAMP]` filled in. Companions that are pages (`HTMLResource`) are kept as `NAME.companion1.html`, up to 1 MiB each; frames and longer pages are left out and reported. All of it is one item, as a stream is; companions, icons and captions may be missing. Nothing that counts is ever asked for: no impression, no tracking, error or click URL. What is written in a page is not asked for either. Duration, click-through, the version of the ad system (`system_version`) and the texts of extensions (`extensions`, by the names of their elements, without addresses) are data for players in `NAME.json`, and stand in no report. `event consume` counts quarters by that duration.",
      "Asking for an ad is counted, too, so it is done when the last one is over, after the item's or the segment's `ttl`, else an hour, whatever the servers say of their answers, and never by a dry run. `variant`, `max_bitrate`, `max_height` and `codecs` choose among the media files that are progressive and of the types in `expect.mime`, else MP4 or WebM, ordered by their bit rates, else their sizes, else their areas; `auto` takes what is here already while it is the same film. Where there is nothing but a stream, that is kept as streams are. Mezzanines, programs for players and files with unknown macros are left.",
      "`vast.zone` names an ad space, and the ad belongs to the space rather than to a tag: all segments of one zone, in whatever configuration, share one ad, and while it holds none of their tags is asked. The first segment that needs it asks its own tag with its own headers; where that fails the next one asks its tag. Two zones of one tag have two ads. `list` and `explain` show one of its tags; the id is the zone.",
      "The files are `NAME.mp4` (or what the film is), `NAME.json`, `NAME.companion1.png` and so on, of the second ad of a pod `NAME.2.mp4`. NAME is `vast.zone`, else that of the item's `path`, its `id`, or what the tag's path ends in. A published tree has them where the layout puts the tag, `prefetch serve` below `/-/item/PROVIDER/ID/`, and `prefetch path ITEM` prints the film of the first ad.",
      "A server that has no ad is not a failure: the outcome is `empty`, a warning says so, and the last ad stays, with `on_gone: remove` it goes. `fail_on_empty` makes it one. What goes wrong has the number that VAST gives it in the report, as `error.vast`; nothing is sent to a server.",
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
      "With `store: false` the items of a segment are asked for so that a cache on the way has them: each run asks for every item, without conditions, reads what comes, checks what is declared of it, counts it, and keeps nothing. What the segment had stored before is neither used nor removed. `head: true` asks for the headers alone and implies `store: false`; `store: true` beside it is an error. Segments with different `headers` ask each for itself, also for the same URL. A dry run asks for the headers alone."
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
      "With `manifest_keys`, public keys as `minisign` prints them, a manifest counts only if one of them signed it: its signature is expected at the manifest's URL with `.minisig` added to the path, for a local file at FILE`.minisig`. It is verified before anything of the manifest is read. `generated` and `expires` are required, from the manifest itself, or from the signed comment as `prefetch manifest sign` writes it: `timestamp:SECONDS`, `expires:SECONDS` between tabs. `manifest_expiry: optional`, a key for all segments, takes lists without an expiry; plain `minisign` writes none. Where that comment has `file:NAME`, it must be the manifest's own name, unless the manifest says which `segment` it is for. An unsigned, wrongly signed or expired one is a `signature` failure, one older than the stored one a `rollback`; the run ends with 5, and nothing changes. Whatever else the guards refuse in a signed manifest ends with 5 as well.",
      "Every further document must be signed likewise; pages must say the same `generated` as the first. The lists of a package index need no signature where the signed manifest demands digests. An empty list for a segment takes back the keys that hold for all.",
    ],
    example: nil
  )
}
