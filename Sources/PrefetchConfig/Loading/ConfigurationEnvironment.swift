/// Access to the outside world for loading a configuration.
package struct ConfigurationEnvironment: Sendable {
  package enum FileFault: Error, Hashable, Sendable {
    case missing
    /// With a reason such as `may not be read by this user`.
    case unreadable(String)
    case notRegular
    case tooLarge(limit: Int)

    var wording: String {
      switch self {
      case .missing: "does not exist"
      case .unreadable(let reason): reason
      case .notRegular: "is not a regular file"
      case .tooLarge(let limit): "is larger than \(limit) bytes"
      }
    }
  }

  package var readFile: @Sendable (String) -> Result<[UInt8], FileFault>
  /// Returns the path with links resolved; nil when there is no such file.
  package var realPath: @Sendable (String) -> String?
  package var isReadableByOthers: @Sendable (String) -> Bool
  package var variable: @Sendable (String) -> String?
  package var currentDirectory: String
  package var homeDirectory: String?
  /// Reads standard input, for the file name `-`.
  package var standardInput: @Sendable () -> Result<[UInt8], FileFault>

  package init(
    readFile: @escaping @Sendable (String) -> Result<[UInt8], FileFault>,
    realPath: @escaping @Sendable (String) -> String?,
    isReadableByOthers: @escaping @Sendable (String) -> Bool = { _ in false },
    variable: @escaping @Sendable (String) -> String? = { _ in nil },
    currentDirectory: String,
    homeDirectory: String? = nil,
    standardInput: @escaping @Sendable () -> Result<[UInt8], FileFault> = { .success([]) }
  ) {
    self.readFile = readFile
    self.realPath = realPath
    self.isReadableByOthers = isReadableByOthers
    self.variable = variable
    self.currentDirectory = currentDirectory
    self.homeDirectory = homeDirectory
    self.standardInput = standardInput
  }
}
