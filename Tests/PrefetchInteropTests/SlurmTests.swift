@unsafe @preconcurrency import Glibc
import PrefetchCore
import PrefetchTestSupport
import Testing

/// A real SLURM on one machine, with its own controller, node and munge.
@Suite(
  "An array of SLURM",
  .enabled(if: Binary.isGiven, "\(Binary.absence)"),
  .enabled(
    if: ["slurmctld", "slurmd", "munged", "sbatch"].allSatisfy(Tool.isInstalled) && getuid() == 0,
    "needs slurmctld, slurmd, munge, slurm-client, and root"
  )
)
struct SlurmTests {
  private static let count = 10_000

  @Test(
    "An array of SLURM fetches each item once, and one of five tasks fetches a fifth",
    .timeLimit(.minutes(10))
  )
  func array() throws {
    let ground = try TierGround()
    let urls = (0..<Self.count).map { "\($0)" }
    for url in urls { ground.site["/\(url)"] = Site.Page("item \(url)") }
    ground.site["/list.json"] = Site.Page(Manifest.text(urls))
    let home = try ground.machine("mode: read_write, trust: true, timeout: 20s", "name: array")
    home.write(Self.script, to: "slurm.sh")
    home.write(Self.task, to: "task.sh")
    let ports = "\(LoopbackPort.free()) \(LoopbackPort.free())"
    defer { _ = try? home.shell("for pid in slurm/*.pid; do kill $(cat $pid); done") }
    let start = try home.shell("bash slurm.sh \(ports)")
    try #require(start.status == 0, "\(start)")

    let four = try parts(home, 4)
    var requestCounts = ground.site.requests.reduce(into: [String: Int]()) {
      $0[$1.path, default: 0] += 1
    }
    requestCounts["/list.json"] = nil
    #expect(requestCounts.count == Self.count && requestCounts.allSatisfy { $0.value == 1 })
    let bodies = ground.store.files.keys.count { $0.contains("/cas/") }
    #expect(bodies == Self.count + 1)

    // Five jobs with empty caches find everything in the shared store.
    _ = ground.drainRequests()
    let five = try parts(home, 5)
    let moved = urls.count { four[$0] != five[$0] }
    #expect((1_800...2_200).contains(moved), "\(moved) of \(Self.count) have moved")
    let whole = ground.site.requests.filter { $0.headers["If-None-Match"] == nil }
    #expect(whole.isEmpty, "\(whole.count) were fetched again")
  }

  /// Returns the task of each item; every item belongs to one task.
  private func parts(_ home: Home, _ tasks: Int) throws -> [String: Int] {
    let run = try home.shell(
      "SLURM_CONF=$PWD/slurm/slurm.conf sbatch --wait --array=0-\(tasks - 1) --output=out-\(tasks)-%a task.sh \(tasks)",
      within: 300
    )
    #expect(
      run.status == 0,
      "\(run) \(home.read("out-\(tasks)-0") ?? "") \(home.read("slurm/log/ctld") ?? "")"
    )
    var owner: [String: Int] = [:]
    for task in 0..<tasks {
      for line in (home.read("list-\(tasks)-\(task)") ?? "").split(separator: "\n") {
        let name = String(line.split(separator: "/").last ?? "")
        #expect(owner.updateValue(task, forKey: name) == nil, "\(name) is in two parts")
      }
    }
    #expect(owner.count == Self.count)
    return owner
  }

  private static let task = """
    #!/bin/bash
    place=part-$1-$SLURM_ARRAY_TASK_ID
    set -e
    "$prefetch" run --shard env -q --cache-dir $place/cache --state-dir $place/state
    "$prefetch" list --cache-dir $place/cache --state-dir $place/state | cut -f4 >list-$1-$SLURM_ARRAY_TASK_ID

    """

  private static let script = """
    set -euo pipefail
    mkdir -p slurm/spool slurm/state slurm/log slurm/munge
    chmod 700 slurm/munge
    dir=$PWD/slurm
    host=$(hostname -s)
    head -c 1024 /dev/urandom >slurm/munge/key
    chmod 400 slurm/munge/key
    cat >slurm/slurm.conf <<END
    ClusterName=one
    SlurmctldHost=$host(127.0.0.1)
    SlurmctldPort=$1
    SlurmdPort=$2
    SlurmUser=root
    AuthType=auth/munge
    AuthInfo=socket=$dir/munge/socket
    CredType=cred/munge
    SlurmctldPidFile=$dir/ctld.pid
    SlurmdPidFile=$dir/node.pid
    SlurmdSpoolDir=$dir/spool
    StateSaveLocation=$dir/state
    SlurmctldLogFile=$dir/log/ctld
    SlurmdLogFile=$dir/log/node
    ProctrackType=proctrack/pgid
    TaskPlugin=task/none
    SelectType=select/cons_tres
    SelectTypeParameters=CR_CPU
    MpiDefault=none
    ReturnToService=2
    NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
    PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
    END
    munged --force --key-file=$dir/munge/key --socket=$dir/munge/socket --pid-file=$dir/munge.pid \\
      --log-file=$dir/log/munge --seed-file=$dir/munge/seed
    export SLURM_CONF=$dir/slurm.conf
    slurmctld -c -f $SLURM_CONF
    slurmd -c -f $SLURM_CONF

    """
}
