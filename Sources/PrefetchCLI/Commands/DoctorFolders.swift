import PrefetchConfig
import PrefetchCore
import PrefetchStore
import PrefetchSystem

struct DoctorFolders {
  let loaded: LoadedConfiguration
  let locations: CacheLocations
  /// Whether past runs filled a cache that is not there.
  var isCacheLost = false

  var findings: [DoctorFinding] {
    var findings = [isCacheLost ? lostCache : folder("cache", locations.cache)]
    if FileReading.exists(locations.cache), !locations.isUsedAlone,
      let objection = (try? NetworkFileSystem.objection(to: locations.cache)) ?? nil
    {
      findings.append(DoctorFinding("cache", objection.message, trouble: .io))
    }
    findings.append(fileSystem)
    findings.append(state)
    for segment in loaded.configuration.segments {
      guard let rules = segment.declaration.publishing else { continue }
      let treeFolder = rules.folder
      // Generations of an atomic tree lie beside its name.
      findings.append(
        folder("published", rules.isAtomic ? Self.parent(of: treeFolder) : treeFolder)
      )
    }
    for (_, file) in loaded.configuration.report.files.sorted(by: { $0.key < $1.key }) {
      let path = file.hasPrefix("+") ? String(file.dropFirst()) : file
      // Pipes and devices are written to directly.
      guard path != "-", !FileReading.exists(path) || FileReading.size(path) != nil else {
        continue
      }
      findings.append(folder("report", Self.parent(of: path)))
    }
    return findings
  }

  private var lostCache: DoctorFinding {
    DoctorFinding(
      "cache",
      "\(locations.missingCache), and past runs filled one; mount the disk if one belongs there",
      trouble: .io
    )
  }

  private func folder(_ name: String, _ path: String) -> DoctorFinding {
    var existing = path
    while existing != "/", !FileReading.exists(existing) {
      existing = Self.parent(of: existing)
    }
    guard FileReading.isWritableFolder(existing) else {
      return DoctorFinding(name, "\(path): `\(existing)` cannot be written", trouble: .io)
    }
    guard existing == path else { return DoctorFinding(name, "\(path), which the first run makes") }
    return DoctorFinding(name, "\(path)\(mode(of: path))")
  }

  private var state: DoctorFinding {
    let finding = folder("state", locations.state)
    // The state may hold the token that a license was exchanged for.
    let file = "\(locations.state)/state.sqlite"
    guard finding.isRight, let bits = FileReading.permissionBits(file), bits & 0o077 != 0 else {
      return finding
    }
    return .doubtful("state", "\(finding.value): others may read `\(file)`")
  }

  private func mode(of path: String) -> String {
    guard let bits = FileReading.permissionBits(path) else { return "" }
    let digits = String(bits, radix: 8)
    return " (\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits))"
  }

  private var fileSystem: DoctorFinding {
    var existing = locations.cache
    while existing != "/", !FileReading.exists(existing) { existing = Self.parent(of: existing) }
    let kind = FileReading.realPath(existing)
      .flatMap { MountTable.current().mount(of: $0)?.kind }
    guard let space = DiskSpace(nearest: locations.cache) else {
      return DoctorFinding("file system", kind ?? "unknown")
    }
    let minimum = loaded.configuration.policy.room.minimumFree(of: space.size)
    let sizes = SizeText.format(together: [space.free, minimum])
    let value =
      "\(kind ?? "unknown"), \(sizes[0]) of \(SizeText.format(space.size)) free, "
      + "of which `cache.min_free` keeps \(sizes[1])"
    return DoctorFinding("file system", value, trouble: space.free < minimum ? .deferred : nil)
  }

  private static func parent(of path: String) -> String {
    let parent = PathText.split(path).folder
    return parent.isEmpty ? "/" : String(parent)
  }
}
