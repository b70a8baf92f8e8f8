internal import Glibc

enum DescriptorLimit {
  static var current: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return usual
    }
    return Int(clamping: limit.rlim_cur)
  }

  private static let usual = 1024
}
