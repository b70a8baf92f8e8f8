enum HookProse {
  static let section = ConfigurationProse(
    title: "Hooks",
    paragraphs: [
      "`hooks` names programs by the event that starts them: a list of words that no shell reads, or a mapping with `run`, `timeout` and `required`. The program gets the objects of its event on standard input, one JSON object a line, as prefetch-report(5) describes them: all that have come since it was started last. `PREFETCH_EVENT` and `PREFETCH_RUN` are in its environment; the license, and whatever the configuration keeps secret, is not. `PREFETCH_HOOK_CACHES` names the cache, one folder a line. A `prefetch` command that a hook starts, directly or through other programs, starts no hooks of the same cache and says so; hooks of other caches start. One program runs at a time, beside transfers, which never wait for it.",
      "A program that ends otherwise than with 0, or does not end in its time and is ended with all that it started, is named in a warning with the last line that it said on standard error. Its other output is dropped. With `required: true` that is an error, and the run ends with 1 where nothing worse was found. `--no-hooks` starts none, nor does a dry run. At its end a run waits for programs that have not ended, each in its time; once a signal has asked for the end, they have half a second.",
    ],
    example: """
      hooks:
        cache.added: [/usr/local/bin/tell-players]
        run.finished: { run: [/usr/local/bin/ping-monitor, --quiet], timeout: 10s }
      """
  )
}
