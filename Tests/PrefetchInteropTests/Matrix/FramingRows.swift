import PrefetchTestSupport

/// Where a body ends: whatever two readers could understand differently is refused.
enum FramingRows {
  static let all = lengths

  private static let lengths = [
    ("two lengths", "Content-Length: 5\r\nContent-Length: 4\r\n"),
    ("a list of lengths", "Content-Length: 5, 4\r\n"),
    ("a negative length", "Content-Length: -5\r\n"),
    ("a length beyond 64 bits", "Content-Length: 99999999999999999999\r\n"),
    ("a length of 2 to the 63", "Content-Length: 9223372036854775808\r\n"),
    ("a hexadecimal length", "Content-Length: 0x5\r\n"),
    ("a length with a plus sign", "Content-Length: +5\r\n"),
    ("a length with a blank inside", "Content-Length: 5 5\r\n"),
    ("an empty length", "Content-Length:\r\n"),
    ("a length in letters", "Content-Length: five\r\n"),
    ("a fraction of a length", "Content-Length: 5.0\r\n"),
    ("a space before the colon", "Content-Length : 5\r\n"),
    ("a tab before the colon", "Content-Length\t: 5\r\n"),
  ].map { name, head in
    Row(name, "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x1", head: head)
  }
}
