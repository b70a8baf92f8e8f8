import PrefetchTestSupport
import Testing

/// Completions that shells offer when a user presses Tab.
@Suite("A completion", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct CompletionTests {
  private let home: Home
  private let server: LoopbackServer

  init() throws {
    home = try Home()
    server = try LoopbackServer { .respond(200, text: "body of \($0.path)") }
    for (file, name) in [("prefetch.yaml", "two words"), ("other.yaml", "films")] {
      home.configure(
        """
        name: site
        segments: [{ name: \(name), urls: ["\(server.address("/film.mp4?x=1"))"] }]
        cache: { min_free: 0 }
        """,
        to: file
      )
    }
    try #require(home.run("-q").status == 0)
    let made = try home.shell(
      """
      mkdir -p bin fn; ln -s "$prefetch" bin/prefetch
      bin/prefetch completion bash >made.bash; bin/prefetch completion fish >made.fish
      bin/prefetch completion zsh >fn/_prefetch
      """
    )
    try #require(made.status == 0, "\(made)")
  }

  // MARK: bash

  /// Returns bash's completions; `words` are a split command line with the cursor in the last one.
  private func bash(_ words: String...) throws -> [String] {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let run = try home.shell(
      """
      export PATH="$PWD/bin:$PATH"; source ./made.bash
      COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); _prefetch; printf '%s\\n' "${COMPREPLY[@]}"
      """
    )
    #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
    return run.lines.map(String.init)
  }

  @Test("Completion in bash offers segments and stored items of the chosen configuration")
  func names() throws {
    let url = server.address("/film.mp4?x=1").replacing("?", with: "\\?")
    for command in ["run", "plan", "env", "publish", "unsubscribe", "log"] {
      #expect(try bash("prefetch", command, "") == ["two\\ words"], "\(command)")
    }
    #expect(try bash("prefetch", "env", "x") == [])
    #expect(try bash("prefetch", "-c", "other.yaml", "env", "") == ["films"])
    #expect(try bash("prefetch", "list", "--segment", "two") == ["two\\ words"])
    #expect(try bash("prefetch", "list", "--segment", "=", "two") == ["two\\ words"])
    for command in ["get", "path", "explain", "pause", "lock", "rm"] {
      #expect(try bash("prefetch", command, "") == [url], "\(command)")
    }
    #expect(try bash("prefetch", "event", "consume", "") == [url])
    // The part that bash has cut off at a colon stays.
    let rest = try #require(url.split(separator: ":").last.map(String.init))
    #expect(try bash("prefetch", "path", "http", ":", "//127.0.0.1", ":", "") == [rest])
    #expect(try bash("prefetch", "path", "https", ":", "//127.0.0.1", ":", "") == [])
  }

  @Test("Completion in bash offers nothing that the command refuses")
  func refused() throws {
    #expect(try bash("prefetch", "completion", "") == ["bash", "zsh", "fish"])
    #expect(try bash("prefetch", "completion", "bash", "") == [])
    #expect(try bash("prefetch", "env", "--js") == [])
    #expect(try home.run("env", "--json").status == 64)
    #expect(try bash("prefetch", "run", "--js") == ["--json"])
    #expect(try bash("prefetch", "event", "con") == ["consume"])
  }

  // MARK: fish

  @Test(
    "Completion in fish offers the same as in bash",
    .enabled(if: Tool.isInstalled("fish"), "needs fish")
  )
  func fish() throws {
    func offered(_ line: String) throws -> [String] {
      let run = try home.shell(
        """
        export PATH="$PWD/bin:$PATH"; fish --no-config -c 'source made.fish; complete -C "\(line)"'
        """
      )
      #expect(run.status == 0, "\(run)")
      return run.lines.map { String($0.prefix { $0 != "\t" }) }
    }
    #expect(try offered("prefetch env ") == ["two words"])
    #expect(try offered("prefetch -c other.yaml env ") == ["films"])
    #expect(try offered("prefetch path ") == [server.address("/film.mp4?x=1")])
    #expect(try offered("prefetch completion bash ") == [])
    #expect(try offered("prefetch env --js") == [])
    #expect(try offered("prefetch run --js") == ["--json"])
  }

  // MARK: zsh

  @Test(
    "Completion in zsh offers subcommands, their options, segments and items",
    .enabled(if: Tool.isInstalled("zsh"), "needs zsh"),
    arguments: [
      ("prefetch event ", "consume"), ("prefetch event f", "flush"),
      ("prefetch manifest ", "sign"), ("prefetch manifest check --", "--key"),
      ("prefetch event consume --", "--at"), ("prefetch manifest -v check --", "--key"),
      ("prefetch event consume ", "film.mp4"), ("prefetch env ", "words"),
      ("prefetch -c other.yaml env ", "films"), ("prefetch path ", "film.mp4"),
    ]
  )
  func zsh(line: String, word: String) throws {
    home.write(
      """
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'PS1=; fpath=($PWD/fn $fpath); autoload -Uz compinit; compinit -u -d $PWD/dump'
      zpty -w z 'LISTMAX=1000; bindkey "^I" list-choices; print REA""DY'
      zpty -r z text '*READY*'
      zpty -w -n z "$1"$'\\t'
      zpty -r z text "*$2*"
      print -r -- "$text"
      zpty -d z
      """,
      to: "press.zsh"
    )
    let run = try home.shell(
      "export TERM=dumb PATH=\"$PWD/bin:$PATH\"; zsh -f press.zsh '\(line)' '\(word)'",
      within: 60
    )
    #expect(run.status == 0 && run.output.contains(word), "\(run)")
  }
}
