enum HookProse {
  static let section = ConfigurationProse(
    title: "Hooks",
    paragraphs: [
      "`hooks` names a program for each event: a list of words that no shell reads, or a mapping with `run`, `timeout` and `required`. The program gets all objects of its event since its last start on standard input, one JSON object a line, as prefetch-report(5) describes them. Its environment has `PREFETCH_EVENT` and `PREFETCH_RUN`, but neither the license nor other secrets of the configuration. `PREFETCH_HOOK_CACHES` in it names the cache, one folder a line: a `prefetch` command that a hook starts, directly or through other programs, starts no hooks of the same cache and says so. One program runs at a time, beside transfers, which never wait for it.",
      "If a program ends with another status than 0, or exceeds its time, a warning names it with its last line on standard error; its other output is dropped. A program that exceeds its time is ended, with all processes that it started. With `required: true` the warning is an error, and the run ends with 1 if nothing worse was found. `--no-hooks` starts no program, nor does a dry run. At its end a run waits for its programs, each in its time; after a signal they have half a second.",
    ],
    example: """
      hooks:
        cache.added: [/usr/local/bin/tell-players]
        run.finished: { run: [/usr/local/bin/ping-monitor, --quiet], timeout: 10s }
      """
  )
}
