import PrefetchConfig
import PrefetchDocuments

/// Manual page prefetch.yaml(5): the key table, and prose around it.
enum ConfigurationManual {
  static func render() -> String {
    ConfigurationPage.render(rows: rows, before: before, after: after)
  }

  private static var rows: [ConfigurationKeyRow] {
    KeyReference.rows.map { row in
      ConfigurationKeyRow(
        path: row.path,
        type: row.type,
        defaultValue: row.defaultValue.flatMap(shown),
        help: row.help
      )
    }
  }

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
          "The configuration is YAML, JSON, an XML property list or a binary property list; prefetch tells them apart by their first bytes. An iOS Info.plist is read too. Keys are written `snake_case`; `camelCase` and `kebab-case` also work. Keys that begin with `x_` are ignored, every other unknown key is an error, and all problems are reported at once.",
          "Types come from the schema, never from how a scalar looks: if text is expected, `no`, `1.10`, `22:00` and `0123` stay as written. Booleans are `true`, `false`, `yes`, `no`, `on` or `off`. Duplicate keys, unknown tags, tabs as indentation and invalid UTF-8 are errors.",
          "`prefetch config --schema` prints a JSON Schema for editors. It accepts what `check` accepts, but it cannot see that two keys conflict, that a file or a variable is missing, or that a time zone or a host name beyond ASCII does not exist.",
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
          "Sizes: `kB` `MB` `GB` `TB` are powers of 1000, `KiB` `MiB` `GiB` `TiB` of 1024. Decimals and one space before the unit are allowed, a bare number is bytes, and `unlimited` lifts a limit. Rates: `20MB/s`, `8Mbps`. Durations: `10s` `5m` `2h` `7d`; a bare number is seconds. Windows: `22:00-06:00`, `sat,sun 00:00-24:00`; a window past midnight belongs to the day on which it begins. Dates: `2027-06-30` or an RFC 3339 time. If a number is expected, a scalar without quotes counts by its value: `1e3` is `1000`.",
          "Paths are relative to the file that holds them; `~/` is the home folder.",
          "`${env:NAME}` and `${env:NAME:-default}` insert environment variables, `${file:PATH}` the content of a file, `${credential:NAME}` a systemd credential, `${var:NAME}` an entry of `vars`, `${license}` the license (in headers only); `$$` is a dollar sign. A variable that is unset and has no default is an error. The license, header values, proxy passwords, values from files and credentials, and variables behind the host of a URL are shown as `***` everywhere. A command that cannot read such a value shows `***` in place of the rest of the URL.",
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "Several files",
        paragraphs: [
          "You may give `--config` several times, and a file may `include` others. Mappings merge, `segments` merge by `name`, and other lists are replaced by the later file. A configuration is identified by its `name`, else by its first file, and the cache keeps its content under that identity. Configurations of different identity never remove each other's content. `--set` and the environment come last."
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "Priorities",
        paragraphs: [
          "A free slot goes to the highest-ranked work that may use it. The rank is the priority of the segment, then manifests before items, then the order of the segments, then the item's own priority. Segments without a priority come last, and so do items without one inside their segment. If several segments name an item, its best rank counts.",
          "While a run requests the manifest of a segment, segments of a lower priority start nothing on the host of that manifest, nor on the hosts of the segment's previous items. If these were more than 64 hosts, the lower segments start nothing at all; otherwise they continue elsewhere. The barrier ends with the first failed attempt for the manifest, and while its host demands a pause. Segments of one priority never wait for each other.",
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "A full cache",
        paragraphs: [
          "`cache.size` limits the stored bodies, manifests included. It holds at every moment, for runs and for `prefetch get`. Bodies in flight and parts count only for `cache.min_free`. If not everything fits, one order decides, and later content gives way to earlier content. Items of segments come first, by the priority of the segment, the order of the segments, the item's own priority, and the order of the list. Then come items without a segment, the least recently used last, and at the end expired content. `cache.purge.order` arranges the kinds of content without a segment.",
          "Nothing is evicted for a body that would still not fit. Three kinds of content are never evicted to make room: locked items, items that another configuration declares, and manifests of segments. With `purge.auto: false` nothing is evicted at all. An item that comes too late in the order fails as `cache_full` in every run until something changes, so that no run evicts and fetches in turns; with a declared `size` it costs no request. An update needs room only for the difference. After you lower `cache.size`, the next run or `prefetch gc` evicts from the end of the order.",
          "A run checks an item without room once more when nothing else is in flight, and the item fails only then. An item without a declared size may need a second request, after its server has sent the size and the run has made room.",
          "`prefetch plan` shows all this beforehand, from declared sizes and sizes that a probe returns; there an item of unknown size is a `fetch`. A body larger than `max_file_size` fails as `too_large`. An item that would take the disk below `cache.min_free` is deferred (`free_disk`, exit status 75), unless enough content later in the order may go. Both rules also apply to a size that only the response states.",
        ],
        example: nil
      ),
      ConfigurationProse(
        title: "Caches below",
        paragraphs: [
          "`cache.lower` names caches below this one, the uppermost first: for example a cache in an image, or on a mount. prefetch only reads them: no file, lock or time in them changes, so they may belong to another user or be on a read-only file system. A run adopts their records of its segments and of items that this cache lacks, as if it had fetched them. Pinned and fresh items cost no request, others are revalidated with the validators from below, and only changed bodies are stored here. Commands that write nothing see the same. A body is looked up here first, then below in order; `path` prints where it is. A published tree gets clones or copies of bodies from below, never hard links.",
          "Bodies below do not count for `cache.size` or for `cache.bytes` of `prefetch status`, and are never evicted. `rm`, `gc` and removals delete rows of this cache and leave the lower caches alone; a removed item returns when its lower cache has changed. If a body or a whole lower cache is missing, the next run fetches what it needs. A lower cache that is damaged or of another version of prefetch costs a warning; prefetch still finds bodies in it by declared digests. `prefetch verify` hashes bodies below as well. A cache that was made above others holds only what it added, so name those others here too.",
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
        "A property list with `com.akamai`, `com.akamai.vocsdk.config.file` or any `CFBundle` key at its root is read as an app ships it. `prefetch-sdk`(7) lists the keys that count, and describes the manifests of its segments, subscriptions and the license."
      ],
      example: nil
    ),
    ConfigurationProse(
      title: "Manifests",
      paragraphs: [
        "A manifest lists the items of a segment: one JSON object on a server or a local disk. `prefetch-manifest`(5) has every key and rule. The smallest useful manifest:"
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
