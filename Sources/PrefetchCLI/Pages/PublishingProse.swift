/// The part of prefetch.yaml(5) on published trees.
enum PublishingProse {
  static let sections = [
    ConfigurationProse(
      title: "Published trees",
      paragraphs: [
        "With `publish` the items of a segment appear in a folder under names that the next tool looks for; `prefetch env` prints the variables that lead it there. `layout: url` is the host (with its port, where that is not the usual one) and the path, spaces and letters beyond ASCII as themselves, other escapes as they are; a query is part of the name, with `/` and `%` in it as `%2F` and `%25`; a path that ends with a slash gets `index.html`. `basename` is the last component alone, also good for `bazel --distdir`. In both, an item's `path` is its name. `npm` is npm's own store of bodies, by the strongest declared digest; `pip` a flat folder of wheels and source archives for `--find-links`; `go` the tree of a module proxy, with the `.info` and `list` files that go asks for; `bazel` the folder of `--repository_cache`; `cargo` a local registry in place of crates.io, with a `config.toml` that names it; `yarn` the offline mirror of Yarn 1, by the names that Yarn makes of URLs; `hls` a folder for each stream, by its provider and id, and everything else as `basename`.",
        "Cargo takes no source of crates from its environment, so `env` makes the tree its home (`CARGO_HOME`): there cargo reads `config.toml`, and puts beside it what it unpacks. Whoever wants to keep their own home, or has no leave to write into the tree, says `cargo --config DIR/config.toml build --offline`. It stands for crates.io, and for no other registry and nothing from git. In it are crates and what is below `index`: any other name fails (`bad_name`, 3), since cargo obeys files of its home.",
        "A name that would leave the folder or is absolute is refused, and its item alone fails (`unsafe_name`, 5). So it does with a name that has control characters, an empty part or `.`, a part of more than 255 bytes, more than 100 folders or more than a path may have (`bad_name`, 3). Items that would have the same name, or of which one is the folder of another, fail too (`unsafe_name`, 5), unless their digests say that they are one file; where all names stand in the configuration, that is an error in it (78). Names that differ in case only are two names.",
        "`link: auto` clones where the file system can, else copies for `npm`, `pip`, `bazel` and `yarn`, whose tools write into the tree, and makes hard links for the others; on another file system it copies, with a warning. Copies have mode 0644 and the time at which they were made, hard links 0444.",
        "A file that prefetch did not put there, or that was changed since, is never touched: where the same bytes are wanted it serves, else the item's publication fails (3), and the message names the file. No symbolic link below the folder is followed (`unsafe_name`, 5), and neither is one in place of the folder (74). Files of items that left go, and with them the folders that prefetch made for them; what is not prefetch's stays. A tree whose segment or `publish` leaves the configuration stays as it is. Several segments may publish to one folder, or one into another's, unless a tree is atomic: what they have in common is one file, which goes when none of them declares it any more, and of two that want something else under one name the later one fails (3). Neither the cache nor the state may lie in such a folder, or it in them (78).",
        "What is prefetch's own is recorded in the state. Without it hard links are known again, all other files that are there count as somebody else's: they serve where they hold what is wanted, and stay when their items leave; a warning says how many, and which generations.",
        "A run publishes after the bodies are durable, and before anything is removed from the cache. A run that brings nothing new asks only whether the folder is still the one that it made; `prefetch publish` looks at every file, and brings back what somebody deleted.",
        "With `atomic: true` the folder is a symbolic link into `DIR.generations`, which one rename leads to the next whole tree, and only once every item is there. Whoever opens the folder and reads below what was opened sees one generation; two paths that are looked up one after the other may fall on either side of a switch. `keep_generations` past ones stay for those who still read them, and for `prefetch publish --rollback SEGMENT`.",
      ],
      example: """
        segments:
          - name: site
            manifest: https://cdn.example.com/site.json
            publish: { dir: /srv/site, layout: basename, atomic: true, keep_generations: 3 }
        """
    )
  ]
}
