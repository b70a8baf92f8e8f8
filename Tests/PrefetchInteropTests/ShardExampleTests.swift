import PrefetchCore
import PrefetchDocuments
import PrefetchTestSupport
import Testing

/// The examples in which a scheduler's jobs share one configuration.
@Suite("The examples of shards", .enabled(if: Binary.isGiven, "\(Binary.absence)"))
struct ShardExampleTests {
  private func text(_ name: String) throws -> String {
    let bytes = try #require(FileTree.read(RepositoryPage.path("examples/\(name)")))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The documents of a file, which `---` divides.
  private func yaml(_ name: String) throws -> [Node] {
    try text(name).split(separator: "\n---\n").map { part in
      let outcome = DocumentReader.read(Array(part.utf8), source: name, syntax: .yaml)
      #expect(outcome.diagnostics.map(\.message) == [])
      return try #require(outcome.node)
    }
  }

  @Test(
    "The examples of shards fetch each item in one shard, and nothing the second time",
    arguments: [("slurm", 2), ("kubernetes", 1), ("github-matrix", 2)]
  )
  func play(name: String, rounds: Int) throws {
    let run = try Home().shell("\(RepositoryPage.path("examples/\(name)/run")) \"$prefetch\"")
    #expect(run.status == 0, "\(run)")
    #expect(run.lines.last == "40 items, each in one part", "\(run)")
    let totals = run.lines.filter { $0.hasPrefix("total ") }
    #expect(totals.count == 4 * rounds, "\(run)")
    #expect(totals.prefix(4).allSatisfy { $0.contains(" fetched") }, "\(run)")
    #expect(totals.dropFirst(4).allSatisfy { $0.contains(" kept; 1 request,") }, "\(run)")
  }

  @Test("SLURM gets an array that is requeued when a node fails")
  func slurm() throws {
    let script = try text("slurm/fetch.sbatch")
    #expect(script.hasPrefix("#!/bin/bash\n"))
    let options = script.split(separator: "\n").filter { $0.hasPrefix("#SBATCH ") }
    #expect(options.contains("#SBATCH --array=0-3") && options.contains("#SBATCH --requeue"))
    // SLURM reads no option after the first command.
    let command = try #require(script.firstRange(of: "\nset -e"))
    #expect(!script[command.upperBound...].contains("#SBATCH"))
    #expect(script.contains("\nprefetch run --shard env "))
  }

  @Test("Kubernetes gets a Job whose pods know their number")
  func kubernetes() throws {
    let documents = try yaml("kubernetes/job.yaml")
    #expect(documents.compactMap { $0.text("kind") } == ["ConfigMap", "Job"])
    let job = try #require(documents.last)
    #expect(job.text("apiVersion") == "batch/v1")
    #expect(job.text("spec.completionMode") == "Indexed")
    #expect(job.text("spec.template.spec.restartPolicy") == "Never")
    let pod = try #require(job.at("spec.template.spec"))
    let fetch = try #require(pod.list("initContainers").first)
    let shards = fetch.list("env").first { $0.text("name") == "PREFETCH_SHARDS" }
    #expect(shards?.text("value") == job.text("spec.completions"))
    #expect(shards?.text("value") == job.text("spec.parallelism"))
    let volumes = Set(pod.list("volumes").compactMap { $0.text("name") })
    for container in [fetch] + pod.list("containers") {
      let mounts = container.list("volumeMounts")
      #expect(!mounts.isEmpty && mounts.allSatisfy { volumes.contains($0.text("name") ?? "") })
    }
    let failure = try #require(job.list("spec.podFailurePolicy.rules").first)
    #expect(failure.text("onExitCodes.containerName") == fetch.text("name"))
    let codes = failure.list("onExitCodes.values").compactMap(\.text).compactMap { Int32($0) }
    let statuses = codes.compactMap { PrefetchCore.ExitStatus(rawValue: $0) }
    #expect(statuses == [.trust, .usage, .config] && statuses.allSatisfy { !$0.isRetryable })
    let script = fetch.list("command").last?.text ?? ""
    #expect(script.contains("--shard env "), "\(script)")
    let configuration = try #require(documents.first?.at("data")?["prefetch.yaml"]?.text)
    var home = try Home()
    home.variables["BUCKET_KEY"] = "key:secret"
    #expect(fetch.list("env").contains { $0.text("name") == "BUCKET_KEY" })
    home.configure(configuration)
    #expect(try home.run("check").status == 0)
  }

  @Test("Each of GitHub's jobs keeps one shard, under a key with the number of shards")
  func github() throws {
    let workflow = try #require(try yaml("github-matrix/fetch.yml").first)
    let job = try #require(workflow.at("jobs.fetch"))
    let shards = job.list("strategy.matrix.shard").compactMap(\.text)
    #expect(shards == (0..<shards.count).map(String.init) && shards.count == 4)
    let steps = job.list("steps")
    let caches = steps.filter { $0.text("uses")?.hasPrefix("actions/cache/") == true }
    #expect(caches.count == 2 && Set(caches.compactMap { $0.text("with.key") }).count == 1)
    let key = caches.first?.text("with.key") ?? ""
    #expect(key.hasPrefix("corpus-${{ matrix.shard }}-${{ strategy.job-total }}-"), "\(key)")
    let rest = caches.first?.text("with.restore-keys") ?? "?"
    #expect(key.hasPrefix(rest), "\(rest)")
    let run = steps.compactMap { $0.text("run") }.joined()
    #expect(run.contains("--shard \"${{ matrix.shard }}/${{ strategy.job-total }}\""), "\(run)")
  }
}
