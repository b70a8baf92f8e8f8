import PrefetchCore
import Testing

@Suite struct NewestVersionsTests {
  struct Listing: Sendable, CustomTestStringConvertible {
    var title: String
    var pattern: String
    var order = VersionOrder.version
    var count = 1
    /// Names; a mark `*` at the end is on those that a person would pick.
    var names: [String]

    var testDescription: String { title }
  }

  static let listings: [Listing] = [
    Listing(
      title: "Debian's installer images beside those of its blends",
      pattern: "debian-@v-amd64-netinst.iso",
      names: [
        "SHA256SUMS", "SHA256SUMS.sign", "debian-12.10.0-amd64-netinst.iso*",
        "debian-12.9.0-amd64-netinst.iso", "debian-edu-12.10.0-amd64-netinst.iso",
        "debian-mac-12.10.0-amd64-netinst.iso", "debian-12.10.0-arm64-netinst.iso",
      ]
    ),
    Listing(
      title: "All blends of Debian as groups",
      pattern: "@*-@v-amd64-netinst.iso",
      names: [
        "debian-12.10.0-amd64-netinst.iso*", "debian-12.9.0-amd64-netinst.iso",
        "debian-edu-12.9.0-amd64-netinst.iso*", "debian-mac-12.8.0-amd64-netinst.iso",
        "debian-mac-12.10.0-amd64-netinst.iso*",
      ]
    ),
    Listing(
      title: "Kiwix ZIM files, two of each",
      pattern: "@*_@v.zim",
      count: 2,
      names: [
        "wikipedia_en_all_maxi_2023-11.zim", "wikipedia_en_all_maxi_2024-01.zim*",
        "wikipedia_en_all_maxi_2024-05.zim*", "wikipedia_en_all_nopic_2024-04.zim*",
        "wikipedia_de_all_maxi_2023-12.zim", "wikipedia_de_all_maxi_2024-02.zim*",
        "wikipedia_de_all_maxi_2024-10.zim*", "wikipedia_de_all_maxi_2024-10.zim.sha256",
        "100r-off-the-grid_en_2024-06.zim*",
      ]
    ),
    Listing(
      title: "Kernels, where a candidate is newer than a release before it",
      pattern: "linux-@v.tar.xz",
      count: 3,
      names: [
        "linux-6.8.tar.xz", "linux-6.8.1.tar.xz", "linux-6.8.9.tar.xz", "linux-6.8.10.tar.xz*",
        "linux-6.9-rc7.tar.xz*", "linux-6.9.tar.xz*", "linux-6.8.10.tar.sign",
        "patch-6.9.xz", "linux-next-20240501.tar.xz",
      ]
    ),
    Listing(
      title: "A final kernel is newer than its candidates",
      pattern: "linux-@v.tar.xz",
      count: 2,
      names: [
        "linux-6.9-rc10.tar.xz*", "linux-6.9-rc9.tar.xz", "linux-6.9.tar.xz*", "linux-6.8.tar.xz",
      ]
    ),
    Listing(
      title: "Nightly builds by commit",
      pattern: "nightly-@v-linux.tar.gz",
      count: 2,
      names: [
        "nightly-2024-05-07-0f3c1a2-linux.tar.gz", "nightly-2024-05-09-a1b2c3d-linux.tar.gz*",
        "nightly-2024-05-08-ffffff0-linux.tar.gz*", "nightly-latest-linux.tar.gz",
        "nightly-2024-05-09-a1b2c3d-darwin.tar.gz",
      ]
    ),
    Listing(
      title: "Nightly folders",
      pattern: "dist/@v/rust-nightly-x86_64.tar.xz",
      names: [
        "/dist/2024-05-07/rust-nightly-x86_64.tar.xz",
        "/dist/2024-05-10/rust-nightly-x86_64.tar.xz*",
        "/dist/2024-05-09/rust-nightly-x86_64.tar.xz", "/dist/rust-nightly-x86_64.tar.xz",
        "/dist/2024-05-10/rust-nightly-aarch64.tar.xz",
      ]
    ),
    Listing(
      title: "Builds of a day, by date",
      pattern: "snap-@v.img",
      order: .date,
      names: [
        "snap-r9-20240506.img", "snap-20240507.2.img", "snap-20240507.10.img*",
        "snap-20231231.99.img", "snap-99999999.img",
      ]
    ),
    Listing(
      title: "Ubuntu images of one architecture",
      pattern: "ubuntu-@v-@*-amd64.iso",
      names: [
        "22.04/ubuntu-22.04.4-desktop-amd64.iso", "22.04/ubuntu-22.04.5-desktop-amd64.iso",
        "22.04/ubuntu-22.04.5-live-server-amd64.iso", "24.04/ubuntu-24.04-desktop-amd64.iso",
        "24.04/ubuntu-24.04.1-desktop-amd64.iso*", "24.04/ubuntu-24.04.1-live-server-amd64.iso*",
        "24.04/ubuntu-24.04.1-live-server-amd64.iso.zsync",
      ]
    ),
    Listing(
      title: "Cloud images by build",
      pattern: "debian-12-@*-amd64-@v.qcow2",
      names: [
        "debian-12-generic-amd64-20240507-1740.qcow2",
        "debian-12-generic-amd64-20240717-1811.qcow2*",
        "debian-12-nocloud-amd64-20240507-1740.qcow2*", "debian-12-generic-amd64.qcow2",
      ]
    ),
    Listing(
      title: "Arch's dated images",
      pattern: "archlinux-@v-x86_64.iso",
      names: [
        "archlinux-2024.05.01-x86_64.iso*", "archlinux-2024.04.01-x86_64.iso",
        "archlinux-2023.12.01-x86_64.iso", "archlinux-x86_64.iso",
      ]
    ),
    Listing(
      title: "Alpine's flavours with candidates",
      pattern: "alpine-@*-@v-x86_64.iso",
      names: [
        "alpine-standard-3.19.1-x86_64.iso", "alpine-standard-3.20.0_rc1-x86_64.iso",
        "alpine-standard-3.20.0-x86_64.iso*", "alpine-virt-3.9.6-x86_64.iso",
        "alpine-virt-3.20.0-x86_64.iso*",
      ]
    ),
    Listing(
      title: "Packages of a Debian pool",
      pattern: "@*_@v_amd64.deb",
      order: .debian,
      names: [
        "pool/o/openssl_3.0.9-1_amd64.deb", "pool/o/openssl_3.0.13-1~deb12u1_amd64.deb",
        "pool/o/openssl_3.0.13-1_amd64.deb*", "pool/o/libssl3_3.0.13~rc1-1_amd64.deb",
        "pool/o/libssl3_3.0.13-1~deb12u1_amd64.deb*", "pool/o/libssl3_3.0.13-1~deb12u1_arm64.deb",
      ]
    ),
    Listing(
      title: "Tags of releases as semantic versions",
      pattern: "tool-@v.zip",
      order: .semver,
      count: 2,
      names: [
        "tool-v1.9.0.zip", "tool-v1.10.0-rc.2.zip", "tool-v1.10.0-rc.10.zip*", "tool-v1.10.0.zip*",
        "tool-1.2.zip",
      ]
    ),
    Listing(
      title: "OpenSSL's letters, which PEP 440 does not know",
      pattern: "openssl-@v.tar.gz",
      count: 2,
      names: [
        "openssl-1.1.1.tar.gz", "openssl-1.1.1w.tar.gz*", "openssl-1.1.1t.tar.gz",
        "openssl-3.0.13.tar.gz*", "openssl-1.1.1w.tar.gz.asc",
      ]
    ),
    Listing(
      title: "Java's updates",
      pattern: "jdk-@v-linux.tar.gz",
      names: [
        "jdk-8u92b14-linux.tar.gz", "jdk-8u412b08-linux.tar.gz*", "jdk-8u412b07-linux.tar.gz",
      ]
    ),
    Listing(
      title: "Python's candidates",
      pattern: "Python-@v.tgz",
      count: 2,
      names: [
        "Python-3.13.0a6.tgz*", "Python-3.13.0b1.tgz*", "Python-3.12.3.tgz", "Python-3.9.19.tgz",
      ]
    ),
    Listing(
      title: "Files of one version in several folders stay together",
      pattern: "fw-@v.bin",
      names: ["a/fw-2.bin*", "b/fw-1.bin", "c/fw-2.bin*"]
    ),
    Listing(
      title: "Of equal versions the later one by number, then by bytes, stays",
      pattern: "x-@v.gz",
      count: 2,
      names: ["x-1.0.gz", "x-1.0.0.gz*", "x-v1.0.0.gz*", "x-0.9.gz", "x-1.gz"]
    ),
    Listing(
      title: "A signature is a group of its own",
      pattern: "x-@v.iso@*",
      names: ["x-2.iso*", "x-1.iso", "x-1.iso.asc*"]
    ),
    Listing(
      title: "One foreign version does not change another group's order",
      pattern: "@*-@v.gz",
      names: ["a-1.0rc1.gz", "a-1.0.gz*", "b-1.0rc1.gz*", "b-1.0.gz", "b-0.9x.gz"]
    ),
    Listing(title: "Nothing matches", pattern: "y-@v.gz", names: ["x-1.gz", ""]),
  ]

  @Test("The newest versions are those that a person would pick", arguments: listings)
  func listing(listing: Listing) throws {
    let names = listing.names.map { $0.hasSuffix("*") ? String($0.dropLast()) : $0 }
    let expected = listing.names.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }
    let newest = NewestVersions(
      try NamePattern(listing.pattern),
      count: listing.count,
      order: listing.order
    )
    #expect(newest.select(from: names).positions.map { names[$0] } == expected)
    // The order of the list decides nothing.
    let reversed = Array(names.reversed())
    #expect(
      newest.select(from: reversed).positions.map { reversed[$0] } == expected.reversed()
    )
  }

  @Test("A version has the latest date that the list states for its files")
  func listedDates() throws {
    let newest = NewestVersions(try NamePattern("x-@v@@@*"), order: .date)
    let names = ["a/x-2@n", "b/x-2@n", "x-3@n", "x-1@n"]
    let seconds: [Int64?] = [10, 30, 20, nil]
    let selection = newest.select(from: names) { position in
      seconds[position].map { Instant(seconds: $0) }
    }
    #expect(selection.positions == [0, 1])
    #expect(
      selection.newest
        == ["x-@v@@n": GroupVersion(text: "2", listed: Instant(seconds: 30), order: .date)]
    )
  }

  @Test("Ten thousand names are selected, in one group and in many")
  func manyNames() throws {
    let names = (0..<10_000).map { "img\($0 % 10)-1.\($0 * 7919 % 10_000).0-amd64.iso" }
    let one = NewestVersions(try NamePattern("img@*-@v-amd64.iso"), count: 2)
    let selection = one.select(from: names)
    #expect(selection.positions.count == 20)
    #expect(Set(selection.newest.values.map(\.text).map { $0.prefix(5) }) == ["1.999"])
    let many = NewestVersions(try NamePattern("@*-@v.0-amd64.iso"), order: .natural)
    #expect(many.select(from: names).positions.count == 10)
  }

  @Test("A long name with many beginnings and ends is matched in one pass")
  func longName() throws {
    let pattern = try NamePattern("@*-@v-@*-x")
    #expect(pattern.match(String(repeating: "-1", count: 30_000)) == nil)
    #expect(pattern.match(String(repeating: "-1", count: 30_000) + "-x")?.version == "1")
  }

  @Test(
    "A list goes back where its newest version is older than the held one",
    arguments: [
      (VersionOrder.version, ["x-1.1.gz"], ["x-1.0.gz"], ["x-@v.gz 1.1 1.0"]),
      (.version, ["x-1.0.gz"], ["x-1.0.gz", "x-0.9.gz"], []),
      (.version, ["x-1.0.gz"], ["x-1.1.gz"], []),
      (.version, ["x-1.0.0.gz"], ["x-1.0.gz"], []),
      (.version, ["x-1.0.gz"], ["x-1.0rc1.gz"], ["x-@v.gz 1.0 1.0rc1"]),
      (.version, ["x-1.0rc1.gz"], ["x-1.0.gz", "x-0.9.gz"], []),
      // A held text that PEP 440 does not know, or a new one, compares naturally.
      (.version, ["x-1.1w.gz"], ["x-1.1t.gz"], ["x-@v.gz 1.1w 1.1t"]),
      (.version, ["x-1.1.gz"], ["x-1.1w.gz"], []),
      (.version, ["x-1.1w.gz"], ["x-1.2.gz"], []),
      (.version, ["x-1.gz", "y-2.gz"], ["y-1.gz", "z-1.gz"], ["y-@v.gz 2 1"]),
      (.version, ["x-2.gz", "y-2.gz"], ["y-1.gz", "x-1.gz"], ["x-@v.gz 2 1", "y-@v.gz 2 1"]),
      (.semver, ["x-1.0.0+2.gz"], ["x-1.0.0+1.gz"], []),
      (.semver, ["x-1.0.0.gz"], ["x-1.1.gz"], ["x-@v.gz 1.0.0 1.1"]),
      (.debian, ["x-1.0.gz"], ["x-1.0~rc1.gz"], ["x-@v.gz 1.0 1.0~rc1"]),
      (.date, ["x-20240102.2.gz"], ["x-20240102.1.gz"], []),
      (.date, ["x-20240102.gz"], ["x-20240101.gz"], ["x-@v.gz 20240102 20240101"]),
      (.version, [], ["x-1.gz"], []), (.version, ["x-1.gz"], [], []),
    ]
  )
  func stepBack(order: VersionOrder, held: [String], listed: [String], steps: [String]) throws {
    let newest = NewestVersions(try NamePattern("@*-@v.gz"), order: order)
    func versions(_ names: [String], rules: UInt64 = 1) -> HeldVersions {
      HeldVersions(rules: rules, groups: newest.select(from: names).newest)
    }
    let back = StepBack.all(from: versions(held), to: versions(listed))
    #expect(StepBack.all(from: versions(held, rules: 2), to: versions(listed)).isEmpty)
    #expect(back.map { "\($0.group) \($0.held) \($0.offered)" } == steps)
  }
}
