import PrefetchCore
import Testing

@Suite("Shards of a declaration")
struct ShardTests {
  @Test(
    "A shard is written I/N, with I from 0",
    arguments: [
      ("0/1", "0/1"), ("3/4", "3/4"), ("9999/10000", "9999/10000"), ("4/4", nil), ("-1/4", nil),
      ("1", nil), ("", nil), ("/", nil), ("0/0", nil), ("1/2/3", nil), (" 0/2", nil), ("+0/2", nil),
      ("0/10001", nil), ("0x0/2", nil), ("00000000000000000000001/2", "1/2"),
      ("0/99999999999999999999", nil),
    ] as [(String, String?)]
  )
  func text(_ text: String, _ expected: String?) {
    #expect(Shard(text)?.text == expected)
  }

  @Test(
    "A shard is read from the variables of a job scheduler",
    arguments: [
      (
        ["SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "5", "SLURM_ARRAY_TASK_COUNT": "4"],
        "2/4"
      ),
      (["CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"], "0/3"),
      (["JOB_COMPLETION_INDEX": "2", "PREFETCH_SHARDS": "3"], "2/3"),
      (["JOB_COMPLETION_INDEX": "2"], nil),
      (["CI_NODE_TOTAL": "3"], nil),
      (["CI_NODE_INDEX": "4", "CI_NODE_TOTAL": "3"], nil),
      (["CI_NODE_INDEX": "one", "CI_NODE_TOTAL": "3"], nil),
      (["SLURM_ARRAY_TASK_ID": "7", "CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"], "0/3"),
      ([:], nil),
    ] as [([String: String], String?)]
  )
  func environment(_ variables: [String: String], _ expected: String?) {
    #expect(Shard(environment: variables)?.text == expected)
  }

  /// Returns a hash that is equal in every process.
  private func weigh(_ text: String) -> ContentDigest {
    var state: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01B3 }
    var bytes: [UInt8] = []
    for _ in 0..<4 {
      state ^= state >> 33
      state &*= 0xFF51_AFD7_ED55_8CCD
      state ^= state >> 29
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: state >> (8 * UInt64($0))) }
    }
    return ContentDigest(bytes: bytes) ?? .none
  }

  private func owner(_ url: String, of count: Int) -> [Int] {
    (0..<count).filter { index in
      Shard(index: index, count: count).map { ShardRule($0, weigh: weigh).owns(url) } ?? false
    }
  }

  @Test("Each item belongs to one shard, and a further shard takes equally from all")
  func parts() {
    let urls = (0..<4_000).map { "https://cdn.example/\($0)" }
    let four = urls.map { owner($0, of: 4) }
    let five = urls.map { owner($0, of: 5) }
    #expect(four.allSatisfy { $0.count == 1 } && five.allSatisfy { $0.count == 1 })
    let moved = zip(four, five).filter { $0 != $1 }
    #expect((720...880).contains(moved.count), "\(moved.count) of 4,000")
    #expect(moved.allSatisfy { $0.1 == [4] }, "nothing moves between the parts that were there")
    for part in 0..<4 {
      #expect((850...1_150).contains(four.count { $0 == [part] }))
      #expect((120...280).contains(moved.count { $0.0 == [part] }))
    }
  }
}
