import PrefetchCore
import Testing

@Suite struct IPAddressTests {
  @Test(
    "Strict spellings are read",
    arguments: [
      ("1.2.3.4", [1, 2, 3, 4]), ("0.0.0.0", [0, 0, 0, 0]),
      ("255.255.255.255", [255, 255, 255, 255]),
      ("::ffff:1.2.3.4", [1, 2, 3, 4]), ("::FFFF:102:304", [1, 2, 3, 4]),
      ("::1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
      ("::", [UInt8](repeating: 0, count: 16)),
      ("2001:db8::a:b", [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 11]),
      ("1:2:3:4:5:6:7:8", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
      ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
    ] as [(String, [UInt8])]
  )
  func reads(text: String, bytes: [UInt8]) {
    #expect(IPAddress(text)?.bytes == bytes)
  }

  @Test(
    "Everything else is no address",
    arguments: [
      "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-0", "+1.2.3.4", "1.2.3.",
      ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::",
      "::-0", "::+1", "::g", "fe80::1%eth0", "1.2.3.4::", "::1.2.3", "[::1]", "::1 ",
    ]
  )
  func refuses(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(
    "Addresses of this machine and network are local",
    arguments: [
      ("127.0.0.1", true), ("127.255.0.9", true), ("10.0.0.1", true), ("172.16.0.1", true),
      ("172.31.255.255", true), ("192.168.1.1", true), ("169.254.169.254", true), ("0.0.0.0", true),
      ("100.64.0.1", true), ("::1", true), ("::", true), ("fe80::1", true), ("febf::1", true),
      ("fc00::1", true), ("fdff::1", true), ("::ffff:127.0.0.1", true), ("::ffff:10.1.1.1", true),
      ("8.8.8.8", false), ("172.15.0.1", false), ("172.32.0.1", false), ("192.169.0.1", false),
      ("100.128.0.1", false), ("2001:db8::1", false), ("fec0::1", false), ("::2", false),
      ("::ffff:8.8.8.8", false),
    ]
  )
  func local(text: String, isLocal: Bool) {
    #expect(IPAddress(text)?.isLocal == isLocal)
  }
}
