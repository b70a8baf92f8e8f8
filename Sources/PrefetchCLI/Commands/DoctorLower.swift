import PrefetchCore
import PrefetchStore

struct DoctorLower {
  let locations: CacheLocations
  let lower: [String]
  let isNamedByOption: Bool
  let now: Instant

  var findings: [DoctorFinding] {
    let twins = locations.lowerDiagnostics(lower)
    guard twins.isEmpty else {
      return twins.map {
        DoctorFinding("lower", $0.message, trouble: isNamedByOption ? .usage : .config)
      }
    }
    return lower.flatMap(findings)
  }

  private func findings(_ path: String) -> [DoctorFinding] {
    do throws(Failure) {
      let below = try DiskStore.lower(at: path, clockStart: now)
      let segments = try below.segments().count
      let items = try below.summary().totals.items
      let contents =
        "\(Amounts.count(Int64(segments), "segment")), \(Amounts.count(Int64(items), "item"))"
      return below.drainDiagnostics().map { .doubtful("lower", $0.message) }
        + [DoctorFinding("lower", "\(path): \(contents)")]
    } catch {
      // A run works without this lower cache.
      return [.doubtful("lower", error.message)]
    }
  }
}
