import PrefetchCore
import PrefetchCrypto
import PrefetchManifests
import PrefetchSystem

/// A segment's list in a local file, read outside of runs.
struct LocalList {
  let declaration: SegmentDeclaration
  let path: String

  /// Returns nil for a remote list, inline items, and a stream, which can be read only once.
  init?(_ declaration: SegmentDeclaration) {
    guard case .file(let path, isStream: false) = declaration.source else { return nil }
    self.declaration = declaration
    self.path = path
  }

  static func tool(of declaration: SegmentDeclaration) -> ListTool? {
    switch declaration.source {
    case .inline: return nil
    case .remote(let url):
      return ManifestReader.tool(for: source(url.path, declaration), bytes: nil)
    case .file(let path, _):
      let source = source(path, declaration)
      guard let list = LocalList(declaration) else { return nil }
      let found = try? FileReading.withBytes(of: list.path, limit: 64 << 20) {
        ManifestReader.tool(for: source, bytes: $0)
      }
      return found ?? ManifestReader.tool(for: source, bytes: nil)
    }
  }

  private static func source(_ name: String, _ declaration: SegmentDeclaration) -> ManifestSource {
    ManifestSource(
      bytes: .file(name),
      base: declaration.base,
      mime: nil,
      name: name,
      rules: declaration.manifestRules
    )
  }

  /// Reads the list as a run would, with its signature if required.
  func read(limit: Int64) -> Result<Manifest, Failure> {
    var source = Self.source(path, declaration)
    source.maximumSize = limit
    let files = SystemFiles()
    do throws(Failure) {
      var proof: ManifestReader.Proof?
      if !declaration.manifestKeys.isEmpty {
        let demand = SignatureDemand(ofFile: path, keys: declaration.manifestKeys)
        proof = (demand, try signature(demand, files))
      }
      return try files.withBytes(of: path, limit: limit) {
        ManifestReader.reading($0, source, signedBy: proof)
      }
    } catch {
      return .failure(error)
    }
  }

  private func signature(
    _ demand: SignatureDemand,
    _ files: SystemFiles
  ) throws(Failure) -> [UInt8] {
    do throws(Failure) {
      return try files.withBytes(of: demand.name, limit: SignatureDemand.sizeLimit) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe Array($0) }
      }
    } catch {
      let problem = error.code == .notFound ? "it is not signed" : "its signature cannot be read"
      throw Failure(.signature, "\(problem): \(error.message)")
    }
  }

  func change(since record: SegmentRecord?, limit: Int64) -> String? {
    guard let record, record.manifestURL != nil, !record.validators.isEmpty else { return nil }
    do throws(FileReading.Fault) {
      let digest = try FileReading.withBytes(of: path, limit: Int(clamping: limit)) {
        SHA256.digest(of: $0)
      }
      return Validators(ofFile: digest) == record.validators
        ? nil : "its list `\(path)` has changed since the last run; `prefetch run` reads it"
    } catch {
      return "its list `\(path)` \(error.reason)"
    }
  }
}
