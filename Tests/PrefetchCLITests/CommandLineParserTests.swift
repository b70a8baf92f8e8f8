import PrefetchConfig
import PrefetchCore
import Testing

@testable import PrefetchCLI

@Suite struct CommandLineParserTests {
  private func run(_ line: String, _ environment: [String: String] = [:]) throws -> RunOptions {
    let invocation = try parse(line, environment)
    return try #require(invocation.options as? RunOptions)
  }

  private func get(_ line: String) throws -> GetOptions {
    let invocation = try parse(line, [:])
    return try #require(invocation.options as? GetOptions)
  }

  private func parse(_ line: String, _ environment: [String: String] = [:]) throws -> Invocation {
    let words = line.split(separator: " ").map(String.init)
    return try CommandLineParser.parse(words, environment: environment)
  }

  private func fault(_ line: String, _ environment: [String: String] = [:]) -> UsageFault? {
    do {
      _ = try parse(line, environment)
      return nil
    } catch {
      return error as? UsageFault
    }
  }

  @Test("A command line without a command means `run`")
  func noCommand() throws {
    let invocation = try parse("")
    #expect(invocation.name == "run")
    #expect(try run("").segments == [])
    #expect(try run("-n").isDryRun)
  }

  @Test(
    "The value of an option follows in the same word or in the next",
    arguments: [
      "run -j4", "run -j 4", "run --jobs=4", "run --jobs 4", "--jobs 4 run", "-nj4 run",
      "-j 9 run -j4",
    ]
  )
  func valueForms(line: String) throws {
    #expect(try run(line).engine.jobs == 4)
  }

  @Test("Options may be anywhere, and a double dash ends them")
  func positions() throws {
    let options = try run("-q run a --set x.y=1 b --dry-run -- -c --json")
    #expect(options.segments == ["a", "b", "-c", "--json"])
    #expect(options.shared.isQuiet)
    #expect(!options.shared.isJSON)
    #expect(options.isDryRun)
    #expect(options.shared.settings == [Setting("x.y=1")])
  }

  @Test("Letters of options may be combined in one word")
  func clusters() throws {
    let options = try run("-nvvqc file.yaml -c-")
    #expect(options.isDryRun)
    #expect(options.shared.verbosity == 2)
    #expect(options.shared.isQuiet)
    #expect(options.shared.configurationFiles == ["file.yaml", "-"])
  }

  @Test("A `plan` is parsed as a dry run")
  func plan() throws {
    let options = try run("plan a --no-probe --items all")
    #expect(options.isDryRun)
    #expect(options.skipsProbes)
    #expect(options.engine.items == .all)
    #expect(options.segments == ["a"])
  }

  @Test("Values of options have types")
  func types() throws {
    let options = try run(
      "run --deadline 1.5h --wait --accept incomplete,deferred --allow mass-removal,rollback "
        + "--report junit=a=b.xml --report json=+log --events 3 --manifests https://h/{segment}.json"
    )
    #expect(options.engine.deadline == .seconds(5400))
    #expect(options.engine.wait == .bare)
    #expect(options.engine.accepted == [.incomplete, .deferred])
    #expect(options.engine.allowed == [.massRemoval, .rollback])
    #expect(
      options.engine.reports == [
        ReportDestination(format: .junit, path: "a=b.xml"),
        ReportDestination(format: .json, path: "+log"),
      ]
    )
    #expect(options.engine.events == .descriptor(3))
    #expect(options.shared.manifestTemplate == "https://h/{segment}.json")
    #expect(try run("run --wait=5m").engine.wait == .value(.seconds(300)))
    #expect(try run("run --events ./3").engine.events == .file("./3"))
  }

  @Test("An option with one value takes the last, and an option with a list takes all")
  func repetition() throws {
    #expect(try run("--accept incomplete --accept deferred").engine.accepted == [.deferred])
    #expect(
      try run("--allow rollback --allow mass-removal").engine.allowed == [.rollback, .massRemoval]
    )
    #expect(try run("--color never --color always").shared.color == .always)
  }

  @Test("An item is named by its URL, its id or its provider and id")
  func items() throws {
    #expect(try get("get -").readsManifest)
    #expect(try get("get --provider p --id a --id b --path").ids == ["a", "b"])
    #expect(try get("get https://h/a --max-stale").maximumStaleness == .bare)
    #expect(
      try get("get https://h/a --max-stale=1h -o x").maximumStaleness == .value(.seconds(3600))
    )
  }

  @Test("Variables of the environment set what the command line leaves out")
  func environment() throws {
    let environment = [
      "PREFETCH_JOBS": "7", "PREFETCH_DRY_RUN": "yes", "PREFETCH_CONFIG": "a.yaml\nb.yaml\n",
      "PREFETCH_OFFLINE": "off", "PREFETCH_QUIET": "", "PREFETCH_WAIT": "10m",
      "PREFETCH_VERBOSE": "2",
      "PREFETCH_ORIGINS": "nonsense", "PREFETCH_SET": "a=b", "PREFETCH_HELP": "1",
    ]
    let options = try run("run", environment)
    #expect(options.engine.jobs == 7)
    #expect(options.isDryRun)
    #expect(options.shared.configurationFiles == ["a.yaml", "b.yaml"])
    #expect(!options.engine.isOffline)
    #expect(!options.shared.isQuiet)
    #expect(options.engine.wait == .value(.seconds(600)))
    #expect(options.shared.verbosity == 2)
    #expect(options.shared.settings == [])
    let typed = try run("run -j 2 -c c.yaml", environment)
    #expect(typed.engine.jobs == 2)
    #expect(typed.shared.configurationFiles == ["c.yaml"])
    #expect(try run("run", ["PREFETCH_WAIT": "true"]).engine.wait == .bare)
    #expect(try run("run", ["PREFETCH_WAIT": "no"]).engine.wait == nil)
  }

  @Test("Values remember their source")
  func sources() throws {
    let invocation = try parse(
      "-j4 --set a.b=1",
      ["PREFETCH_DEADLINE": "1m", "PREFETCH_ITEMS": ""]
    )
    #expect(
      invocation.sources == [
        "jobs": .commandLine, "set": .commandLine,
        "deadline": .environment(variable: "PREFETCH_DEADLINE"),
      ]
    )
  }

  @Test(
    "Help wins over everything else",
    arguments: [
      ("--help", HelpTopic.overview), ("-h", .overview), ("run --help", .command("run")),
      ("--bogus config -h", .command("config")),
      ("help", .overview),
      ("help items", .group(.items)), ("help list", .command("list")),
      ("help exit-codes", .exitCodes),
      ("-qh get", .command("get")), ("help manifest", .command("manifest")),
      ("help manifest check", .command("manifest check")),
      ("help event start", .command("event start")),
    ]
  )
  func help(line: String, topic: HelpTopic) throws {
    let options = try #require(try parse(line).options as? HelpOptions)
    #expect(options.topic == topic)
  }

  @Test(
    "The version is printed with or without a command",
    arguments: ["--version", "-V", "run -V --json"]
  )
  func version(line: String) throws {
    let invocation = try parse(line)
    #expect(invocation.name == "version")
    #expect(invocation.options.shared.isJSON == line.hasSuffix("json"))
  }

  private static let formats =
    Wording.list(ReportFormat.allCases.map(\.rawValue), conjunction: "or")

  @Test(
    "An error has one sentence and the word that was probably meant",
    arguments: [
      ("basics", "there is no command `basics`", "to run one segment: `prefetch run basics`"),
      (
        "https://h/a", "there is no command `https://h/a`",
        "to fetch one URL: `prefetch get https://h/a`"
      ),
      ("lsit", "there is no command `lsit`", "did you mean `prefetch list`?"),
      ("run --job 4", "there is no option `--job`", "did you mean `--jobs`?"),
      ("run -jobs 4", "`-j` takes a whole number from 1 to 1000, not `obs`", nil),
      ("-quiet", "there is no option `-quiet`", "did you mean `--quiet`?"),
      ("-json", "`-j` takes a whole number from 1 to 1000, not `son`", nil),
      ("-z", "there is no option `-z`", nil),
      ("--jsno", "there is no option `--jsno`", "did you mean `--json`?"),
      ("--bogus value", "there is no option `--bogus`", nil),
      ("status --origins", "`status` has no option `--origins`", "it belongs to `config`"),
      ("run --jobs", "`--jobs` needs a value: `--jobs N`", nil),
      ("run -j", "`-j` needs a value: `-j N`", nil),
      ("run --dry-run=1", "`--dry-run` takes no value, so leave out `=1`", nil),
      ("run -j 0", "`-j` takes a whole number from 1 to 1000, not `0`", nil),
      ("run --jobs=+4", "`--jobs` takes a whole number from 1 to 1000, not `+4`", nil),
      (
        "run --deadline soon",
        "`--deadline` takes a duration such as `90s`, `5m`, `2h` or `7d`, not `soon`",
        nil
      ),
      (
        "--color alwyas", "`--color` takes one of `auto`, `always` and `never`, not `alwyas`",
        "did you mean `always`?"
      ),
      ("--set novalue", "`--set` takes KEY=VALUE, not `novalue`", nil),
      (
        "--accept incomplete,nothnig",
        "`--accept` takes one of `incomplete`, `nothing`, `unavailable` and `deferred`, not `nothnig`",
        "did you mean `nothing`?"
      ),
      (
        "--report jnuit=x.xml",
        "`--report` takes FORMAT=PATH with \(formats) as FORMAT, not `jnuit=x.xml`",
        "did you mean `junit=x.xml`?"
      ),
      (
        "--manifests https://h/",
        "`--manifests` takes a URL that holds `{segment}`, not `https://h/`", nil
      ),
      (
        "--offline --refetch", "`--offline` and `--refetch` exclude each other, so leave one out",
        nil
      ),
      (
        "--json --report text=-",
        "`--json` already prints the report, so give `--report` a file instead of `-`", nil
      ),
      ("check extra", "`check` takes options only, so leave out `extra`", nil),
      ("path", "`path` needs one ITEM", nil),
      ("path a b", "`path` takes one ITEM, so leave out `b`", nil),
      ("subscribe", "`subscribe` needs at least one NAME", nil),
      ("unsubscribe", "`unsubscribe` needs at least one NAME, or `--all`", nil),
      ("unsubscribe a --all", "`--all` drops every subscription, so leave out the names", nil),
      ("get", "`get` needs at least one ITEM, `--provider P --id ID`, or `-`", nil),
      ("get --id a", "`--id` needs `--provider P`", nil),
      (
        "get a b",
        "several items need `--output DIR/` or `--path`, since standard output holds one body", nil
      ),
      (
        "get a --json",
        "`get --json` needs `--output PATH`, since standard output holds the document", nil
      ),
      ("get - a --path", "`-` reads every item from standard input, so name no others", nil),
      ("serve --max-stale", "`--max-stale` needs `--pull`, which sends requests", nil),
      (
        "serve --pull --origin .", "`--origin` and `--pull` exclude each other, so leave one out",
        nil
      ),
      (
        "serve --origin . --listen 7733",
        "`--listen` takes an address and a port such as `127.0.0.1:7733`, `[::1]:0` or `localhost:8080`, not `7733`",
        nil
      ),
      (
        "completion csh", "`completion` takes one of `bash`, `zsh` and `fish`, not `csh`",
        "did you mean `zsh`?"
      ),
      ("completion bash --json", "`completion` has no JSON form, so leave out `--json`", nil),
      (
        "help lits", "`help` takes a command, a group of commands or `exit-codes`, not `lits`",
        "did you mean `list`?"
      ),
    ] as [(String, String, String?)]
  )
  func usage(line: String, message: String, hint: String?) {
    let diagnostics = fault(line)?.diagnostics ?? []
    #expect(diagnostics.map(\.message) == [message])
    #expect(diagnostics.map(\.hint) == [hint])
  }

  @Test("A bad variable is named")
  func badEnvironment() {
    let environment = ["PREFETCH_JOBS": "many", "PREFETCH_DRY_RUN": "perhaps"]
    #expect(
      Set(fault("run", environment)?.diagnostics.map(\.message) ?? []) == [
        "`PREFETCH_JOBS` takes a whole number from 1 to 1000, not `many`",
        "`PREFETCH_DRY_RUN` takes 1, true, yes, on, or 0, false, no, off, not `perhaps`",
      ]
    )
    #expect(fault("status", environment) == nil)
  }

  @Test("All errors of a command line are reported at once")
  func several() {
    let messages = fault("run --bogus -j x --deadline y")?.diagnostics.map(\.message) ?? []
    #expect(messages.count == 3)
  }

  @Test(
    "The output format is known although the rest is wrong",
    arguments: [
      "nonsense --json -q -vv", "run --bogus --json -qvv", "--json -q -v -v get",
      "run -j x --json -qv -v",
    ]
  )
  func outputForm(line: String) {
    let shared = fault(line)?.shared
    #expect(shared?.isJSON == true)
    #expect(shared?.isQuiet == true)
    #expect(shared?.verbosity == 2)
  }

  @Test("JSON output may be requested by the environment only")
  func outputFormFromEnvironment() {
    #expect(fault("nonsense", ["PREFETCH_JSON": "1"])?.shared.isJSON == true)
  }

  @Test("A command of two words is read with options before, between and after them")
  func twoWords() throws {
    for line in [
      "manifest check -v m.json", "-v manifest check m.json", "manifest -v check m.json",
    ] {
      let invocation = try parse(line)
      let options = try #require(invocation.options as? ManifestCheckOptions)
      #expect(options.manifest == "m.json")
      #expect(options.shared.verbosity == 1)
      #expect(invocation.name == "manifest check")
    }
  }

  @Test(
    "A command of two words without its second word names the choices",
    arguments: [
      ("manifest", "`manifest` needs to know what to do: `build`, `check` or `sign`"),
      ("manifest make x", "`manifest` does `build`, `check` or `sign`, not `make`"),
    ]
  )
  func secondWord(line: String, message: String) {
    #expect(fault(line)?.diagnostics.map(\.message) == [message])
  }

  @Test("Help on the first of two words lists all commands of that family")
  func familyHelp() throws {
    for line in ["manifest --help", "help manifest"] {
      let options = try #require(try parse(line).options as? HelpOptions)
      #expect(options.topic == .command("manifest"))
      let page = HelpPages.render(options.topic)
      for action in ["build", "check", "sign"] {
        #expect(page.contains("Usage: prefetch manifest \(action) "))
      }
    }
    let options = try #require(try parse("manifest sign --help").options as? HelpOptions)
    #expect(options.topic == .command("manifest sign"))
  }
}
