import PrefetchCore
import Testing

@testable import PrefetchTransfer

@Suite("A line that tries HTTP/3")
struct OriginLineTests {
  @Test("A line keeps HTTP/3 while it answers, and after failures unrelated to the version")
  func open() {
    var line = OriginLine(sharing: .unknown)
    for (respondedVersion, failure) in [
      (.http3, nil), (.http3, .truncated), (nil, .dns), (nil, .certificate), (nil, .cancelled),
    ] as [(ResponseHead.Version?, ErrorCode?)] {
      let lesson = line.recordHTTP3(
        wasTried: true,
        isRequested: respondedVersion != nil,
        respondedVersion: respondedVersion,
        failure: failure
      )
      #expect(lesson == .none)
      #expect(!line.avoidsHTTP3)
    }
  }

  @Test(
    "A line drops HTTP/3 when an older version answers",
    arguments: [.http11, .http2] as [ResponseHead.Version]
  )
  func fallback(respondedVersion: ResponseHead.Version) {
    var line = OriginLine(sharing: .unknown)
    for wasTried in [true, false] {
      let lesson = line.recordHTTP3(
        wasTried: wasTried,
        isRequested: true,
        respondedVersion: respondedVersion,
        failure: nil
      )
      #expect(lesson == .didFallBack)
      #expect(line.avoidsHTTP3)
    }
  }

  @Test(
    "A line drops HTTP/3 when its connection breaks, a failure once an older version answers",
    arguments: [.http3, nil] as [ResponseHead.Version?],
    [.reset, .stalled, .connect] as [ErrorCode]
  )
  func broken(respondedVersion: ResponseHead.Version?, failure: ErrorCode) {
    var line = OriginLine(sharing: .unknown)
    let end = line.recordHTTP3(
      wasTried: true,
      isRequested: true,
      respondedVersion: respondedVersion,
      failure: failure
    )
    #expect(end == .none)
    #expect(line.avoidsHTTP3)
    let late = line.recordHTTP3(
      wasTried: true,
      isRequested: true,
      respondedVersion: .http3,
      failure: nil
    )
    #expect(late == .none)
    let next = line.recordHTTP3(
      wasTried: false,
      isRequested: true,
      respondedVersion: .http2,
      failure: nil
    )
    #expect(next == .didFallBack)
  }

  @Test(
    "A line leaves the reason of a missing connection to the older version",
    arguments: [.connect, .tls] as [ErrorCode]
  )
  func unconnected(failure: ErrorCode) {
    var line = OriginLine(sharing: .unknown)
    let first = line.recordHTTP3(
      wasTried: true,
      isRequested: false,
      respondedVersion: nil,
      failure: failure
    )
    #expect(first == .mustTryOlder)
    #expect(line.avoidsHTTP3)
    let next = line.recordHTTP3(
      wasTried: false,
      isRequested: false,
      respondedVersion: nil,
      failure: failure
    )
    #expect(next == .none)
  }

  @Test("A line does not blame HTTP/3 where it was not tried")
  func untried() {
    var line = OriginLine(sharing: .unknown)
    let lesson = line.recordHTTP3(
      wasTried: false,
      isRequested: true,
      respondedVersion: .http2,
      failure: .reset
    )
    #expect(lesson == .none)
    #expect(!line.avoidsHTTP3)
  }
}
