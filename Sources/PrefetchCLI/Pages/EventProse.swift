/// What prefetch(1) says of recorded events, and of the way to a collector.
enum EventProse {
  static let before = [
    "What `event` records waits in the state folder: things that happened (`logged`), things that took time (`timed`), and items that were seen (`consumption`). Nothing of it is sent anywhere unless the configuration names a collector of your own (`analytics.endpoint`) and `analytics.enabled` is true. Then `get` and `serve` record, too, what they were asked for: `cache_fetch` for answers out of the cache, `cache_miss` for those that needed a server or could not be given, and `metric` for every name under `analytics.metrics` whose prefixes a URL begins with. Servers tell of that every five minutes and when they end, of the 50 URLs that were asked for most one by one and of all others together; one that is killed loses what came since.",
    "Each configuration has a queue of its own, and what is in it goes to no collector but its own; what is recorded without a configuration waits for none. At most `analytics.queue` events wait, each for `analytics.keep`; the oldest give way, are counted, and the counts are sent along. An event that a command has recorded, ending with 0, outlasts the end of any process and of the machine.",
    "At its end a run sends what waits, oldest first, at most 200 events at a time and for at most 30 seconds:",
  ]

  static let request = """
    POST /v1/events HTTP/1.1
    Host: stats.example.com
    Content-Type: application/json

    {"schema":"prefetch-analytics/1","tool":{"name":"prefetch","version":"0.1.0"},
     "configuration":"newsroom","bundle_id":null,"sent":"2026-11-24T09:00:00.000Z",
     "dropped":0,"expired":0,"events":[
      {"id":"8c1f0e0b5d5e4b7f9f0a6f1f3c2b1a00","kind":"timed","name":"import",
       "time":"2026-11-24T08:00:00.000Z","duration_ms":1520,"status":0,"runs":[]},
      {"id":"0d9a4be2c1f84c0c8a3f5a7e6b1d2c3f","kind":"consumption","name":"42",
       "time":"2026-11-24T08:30:00.000Z","url":"https://cdn.example.com/42.mp4",
       "provider":"films","from_ms":0,"to_ms":1200000,"length_ms":2400000,
       "quartiles":[25,50]}]}
    """

  static let after = [
    "`configuration` is the configuration's `name`, where it has one; neither the machine nor its user is named. URLs are sent as reports have them, without what is secret in them. `dropped` and `expired` are sums since the beginning. An answer of 200 to 299, of at most 64 KiB, means that the collector has the batch. After any other answer, or none, the events stay, and are sent again, each with its `id`: a collector that was cut off in the midst of an answer knows by these what it has already. Runs leave it alone for a minute then, twice as long after each further failure, up to six hours, and as long as `Retry-After` says where that is more; `prefetch event flush` does not.",
    "A collector that does not answer, or refuses, costs one warning and changes nothing else. It is under the same rules as every server: transport security, pins, proxies, headers of `transport.rules`; a redirect is followed with 307 or 308 and on its origin. One that these forbid, or that is not who it should be, ends the run with 5. Nothing is sent by a dry run, `--offline`, or while the rules of the network hold back all segments. One process sends at a time.",
  ]
}
