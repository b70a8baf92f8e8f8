import Glibc
import PrefetchCore
import PrefetchSystem
import PrefetchTestSupport
import Testing

@Suite struct FilesTests {
  private let scratch: TemporaryDirectory

  init() throws {
    scratch = try TemporaryDirectory()
  }

  private func read(_ name: String) throws -> String {
    String(decoding: try FileReading.read("\(scratch.path)/\(name)", limit: 1000), as: UTF8.self)
  }

  @Test func `A file is replaced whole and keeps its mode`() throws {
    let path = scratch.path + "/report.json"
    try AtomicFile.write(Array("one".utf8), to: path)
    unsafe chmod(path, 0o600)
    try AtomicFile.write(Array("two".utf8), to: path)
    #expect(try read("report.json") == "two")
    #expect(FileReading.permissionBits(path) == 0o600)
    #expect(scratch.names == ["report.json"])
  }

  @Test(arguments: [0, 5, 16 << 20, (16 << 20) + 1])
  func `The bytes of a file are the same, copied or mapped`(size: Int) throws {
    let path = scratch.path + "/manifest"
    try AtomicFile.write([UInt8](repeating: 7, count: size), to: path)
    let sum = try FileReading.withBytes(of: path, limit: size) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe $0.reduce(0) { $0 + Int($1) } }
    }
    #expect(sum == 7 * size)
  }

  @Test(arguments: [5, (16 << 20) + 1])
  func `A file above the limit is not given out in part`(size: Int) throws {
    let path = scratch.path + "/manifest"
    try AtomicFile.write([UInt8](repeating: 7, count: size), to: path)
    #expect(throws: FileReading.Fault.tooLarge(limit: size - 1)) {
      try FileReading.withBytes(of: path, limit: size - 1) { _ in }
    }
  }

  @Test func `A file that is not committed leaves nothing behind`() throws {
    try AtomicFile.write(Array("old".utf8), to: scratch.path + "/a")
    do {
      var file = try AtomicFile(path: scratch.path + "/a")
      try file.write("half")
    }
    #expect(scratch.names == ["a"])
    #expect(try read("a") == "old")
  }

  @Test func `A plus appends`() throws {
    try AtomicFile.write(Array("1\n".utf8), to: "+\(scratch.path)/log")
    try AtomicFile.write(Array("2\n".utf8), to: "+\(scratch.path)/log")
    #expect(try read("log") == "1\n2\n")
  }

  @Test func `A symbolic link stays one`() throws {
    try AtomicFile.write(Array("old".utf8), to: scratch.path + "/target")
    unsafe symlink("target", scratch.path + "/link")
    try AtomicFile.write(Array("new".utf8), to: scratch.path + "/link")
    #expect(try read("target") == "new")
    #expect(
      FileReading.realPath(scratch.path + "/link") == FileReading.realPath(scratch.path + "/target")
    )
  }

  @Test func `What is no regular file is written to`() throws {
    try AtomicFile.write(Array("x".utf8), to: "/dev/null")
    #expect(FileReading.permissionBits("/dev/null") == 0o666)
    let full = #expect(throws: Failure.self) { try AtomicFile.write([1], to: "/dev/full") }
    #expect(full?.code == .diskFull)
    let missing = #expect(throws: Failure.self) { try AtomicFile.write([1], to: "/nowhere/at/all") }
    #expect(missing?.code == .disk)
  }

  @Test func `Reading knows why it failed`() throws {
    try AtomicFile.write(Array("12345".utf8), to: scratch.path + "/five")
    #expect(try FileReading.read(scratch.path + "/five", limit: 5).count == 5)
    #expect(throws: FileReading.Fault.tooLarge(limit: 4)) {
      try FileReading.read(scratch.path + "/five", limit: 4)
    }
    #expect(throws: FileReading.Fault.missing) {
      try FileReading.read(scratch.path + "/six", limit: 9)
    }
    #expect(throws: FileReading.Fault.missing) {
      try FileReading.read(scratch.path + "/five/x", limit: 9)
    }
    #expect(throws: FileReading.Fault.folder) { try FileReading.read(scratch.path, limit: 9) }
  }
}
