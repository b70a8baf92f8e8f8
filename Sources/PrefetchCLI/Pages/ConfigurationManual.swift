import PrefetchConfig
import PrefetchDocuments

/// Manual page prefetch.yaml(5): the key table, and prose around it.
enum ConfigurationManual {
  static func render() -> String {
    ConfigurationPage.render(rows: rows, before: before, after: after)
  }

  private static var rows: [ConfigurationKeyRow] {
    KeyTable.rows.map { row in
      ConfigurationKeyRow(
        path: row.path,
        type: row.type,
        defaultValue: row.defaultValue.flatMap(shown),
        help: row.help
      )
    }
  }

  /// Hides empty lists and mappings.
  private static func shown(_ value: JSONValue) -> String? {
    switch value {
    case .null: nil
    case .array(let values) where values.isEmpty: nil
    case .object(let members) where members.isEmpty: nil
    case .string(let text): text
    case .bool, .integer, .double, .array, .object: JSONWriter.string(value)
    }
  }

  private static let before =
    [
      ConfigurationProse(
        title: "Description",
        paragraphs: [
          "One schema in four spellings: YAML, JSON, XML property list and binary property list, told apart by their first bytes. An iOS Info.plist is read too. Keys are written `snake_case`; `camelCase` and `kebab-case` are understood. Keys that begin with `x_` are ignored, every other unknown key is an error, and all problems are reported at once.",
          "Types come from the schema, never from how a scalar looks: `no`, `1.10`, `22:00` and `0123` stay what was written where text is expected. Booleans are `true`, `false`, `yes`, `no`, `on` or `off`. Duplicate keys, unknown tags, tabs as indentation and invalid UTF-8 are errors.",
          "`prefetch config --schema` prints a JSON Schema for editors. It takes what `check` takes, but it cannot see that two keys do not fit together, that a file or a variable is missing, or that a time zone or a host name beyond ASCII does not exist.",
        ],
        example: """
          version: 1
          segments:
            - name: basics
              manifest: https://cdn.example.com/basics.json
              priority: 1
            - name: extras
              urls:
                - https://example.com/logo.svg
                - url: https://example.com/news.txt
                  ttl: 10m
          network: { concurrency: 8, per_host: 4 }
          cache: { dir: ~/.cache/prefetch, max_file_size: 100MiB }
          """
      ),
      ConfigurationProse(
        title: "Values",
        paragraphs: [
          "Sizes: `kB` `MB` `GB` `TB` are powers of 1000, `KiB` `MiB` `GiB` `TiB` of 1024; one space may stand between, decimals are allowed, a bare number is bytes, and `unlimited` is what it says. Rates: `20MB/s`, `8Mbps`. Durations: `10s` `5m` `2h` `7d`; a bare number is seconds. Windows: `22:00-06:00`, `sat,sun 00:00-24:00`; one that passes midnight belongs to the day it begins on. Dates: `2027-06-30` or an RFC 3339 time. Where a number is expected, one without quotes means its value: `1e3` is `1000`.",
          "Paths are relative to the file that holds them; `~/` is the home folder.",
          "`${env:NAME}` and `${env:NAME:-default}` bring variables of the environment, `${file:PATH}` the content of a file, `${credential:NAME}` a systemd credential, `${var:NAME}` an entry of `vars`, `${license}` the license (in headers only); `$$` is a dollar. What is unset and has no default is an error. The license, header values, proxy passwords and whatever comes from files and credentials is shown as `***` everywhere.",
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "Several files",
        paragraphs: [
          "`--config` may be given several times, and a file may `include` others: mappings merge, `segments` merge by `name`, other lists are replaced by the later file. The first file gives the identity under which the cache keeps what the configuration declared, unless there is a `name`; configurations of different identity never remove each other's content. `--set` and the environment come last."
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "Priorities",
        paragraphs: [
          "A free place goes to what ranks highest among all that may use it: first by the priority of the segment, then manifests before items, then by the order of the list, then by the item's own priority. Segments without a priority come after all that have one, items likewise inside their segment. Of an item that several segments name the best rank counts.",
          "While the manifest of a segment is asked for, segments of a lower priority start nothing on its host, nor on the hosts of the items it had last time (on no host at all, where these were more than 64); elsewhere they go on. That ends with the manifest's first failed attempt, and as long as its host wants to be left alone. Segments of one priority never wait for each other.",
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "A full cache",
        paragraphs: [
          "`cache.size` holds for all bodies that the cache names, each counted once, manifests included, at every moment, and for `prefetch get` as for runs; bodies in flight and parts count for `cache.min_free` only. Where not everything fits, one order decides, and what is later in it gives way to what is earlier: items of segments by the priority of the segment, the order of the segments, the item's own priority, the order of the list; after them what no segment holds, that which was used longest ago last; at the end what is expired. `cache.purge.order` arranges the kinds of the latter.",
          "Nothing goes for a body that does not fit even so. Never to make room goes what is locked, what another configuration declares, or a manifest that says what a segment holds; with `purge.auto: false` nothing goes at all. What comes too late in the order fails as `cache_full`, in each run until something changes, so that nothing is evicted and fetched in turns; with a declared `size` it costs no request. An update needs room for the difference. After `cache.size` was lowered, the next run or `prefetch gc` lets go from the end of the order.",
          "An item that found no room is looked at once more when nothing else is in flight, and fails only then. One without a declared size may be asked for a second time, when its server has told the size and room was made for it.",
          "Declared sizes, and those that a probe learns, make `prefetch plan` say all this beforehand; an item of unknown size is a `fetch` there. A body larger than `max_file_size` fails as `too_large`. What would take the disk below `cache.min_free` is deferred (`free_disk`, exit status 75) unless enough that comes after it may go, also where only the answer tells how large it is.",
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "Caches below",
        paragraphs: [
          "`cache.lower` names caches below this one, the uppermost first: one that was baked into an image, one on a mount. They are read and nothing else: no file, lock or time in them changes, so they may belong to another user, or lie on a file system that is read-only. A run takes over what they know of items that are not known here, and of its own segments, as if it had brought that itself: what is pinned or fresh is not asked for, anything else is revalidated by the validators from below, and only what changed is stored here. Commands that write nothing see the same. Whatever opens a body looks here first, then below in order; `path` prints where it is. A published tree gets clones or copies of bodies from below, never second names.",
          "Bodies below count neither for `cache.size` nor in `cache.bytes` of `prefetch status`, and do not go to make room; `rm`, `gc` and removals take rows from this cache and leave what is below. What was removed is taken over again when the lower cache has changed. A body that is missing below, or a lower cache that is gone, is as a body that is lost: the next run fetches it. A lower cache of another version of prefetch, or one that is damaged, costs a warning; bodies are still found in it by a digest that is declared. `prefetch verify` hashes bodies below as well. A cache that was itself made above others holds what it added alone: name those others here, too.",
        ],
        example: """
          cache: { dir: /var/cache/prefetch, lower: [/mnt/tonight, /usr/share/base] }
          """
      ),
    ] + SecurityProse.sections + [networkRules] + itemRules + PublishingProse.sections
    + [HookProse.section]

  private static let after = [
    ConfigurationProse(
      title: "Info.plist",
      paragraphs: [
        "A property list with `com.akamai`, `com.akamai.vocsdk.config.file` or any `CFBundle` key at its root is read as an app ships it. `prefetch-sdk`(7) describes which keys count, where the manifests of its segments are found, and how subscriptions and the license are handled."
      ],
      example: nil
    ),
    ConfigurationProse(
      title: "Manifests",
      paragraphs: [
        "What a segment holds is said by its manifest, one JSON object on a server or a local disk; `prefetch-manifest`(5) has every key and rule. The smallest useful one:"
      ],
      example: """
        {
          "format": "prefetch-manifest",
          "version": 1,
          "items": [
            { "url": "img/logo.png", "size": 5321,
              "digests": { "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" } },
            { "url": "data/prices.json", "ttl": "15m" }
          ]
        }
        """
    ),
  ]
}
