internal import CCurl
internal import PrefetchCore

extension EasyHandle {
  /// Received bytes of the body, before decoding.
  var wireSize: Int64 {
    offset(CURLINFO_SIZE_DOWNLOAD_T)
  }

  /// Time from the request to the first byte of its response.
  var latency: Duration? {
    guard let firstByte = time(CURLINFO_STARTTRANSFER_TIME_T),
      let requested = time(CURLINFO_PRETRANSFER_TIME_T)
    else { return nil }
    return firstByte - requested
  }

  /// Reads libcurl's measurements; phases that a reused connection skipped are nil.
  func measure(_ figures: inout TransferFigures, receivedSize: Int64) {
    // libcurl does not count a chunk in which the transfer ends.
    figures.wireBytes = max(wireSize, receivedSize) + Int64(number(CURLINFO_HEADER_SIZE))
    figures.requestBytes = Int64(number(CURLINFO_REQUEST_SIZE)) + offset(CURLINFO_SIZE_UPLOAD_T)
    figures.total = time(CURLINFO_TOTAL_TIME_T)
    figures.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
    figures.requested = time(CURLINFO_PRETRANSFER_TIME_T)
    figures.remoteAddress = remoteAddress
    if number(CURLINFO_NUM_CONNECTS) > 0 {
      let lookup = time(CURLINFO_NAMELOOKUP_TIME_T)
      let connect = time(CURLINFO_CONNECT_TIME_T)
      figures.dns = lookup
      figures.connect = connect.map { $0 - (lookup ?? .zero) }
      figures.tls = time(CURLINFO_APPCONNECT_TIME_T).map { $0 - (connect ?? .zero) }
    } else {
      figures.didReuseConnection = figures.firstByte != nil
    }
  }
}
