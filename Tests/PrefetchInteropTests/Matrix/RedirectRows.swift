import PrefetchCore
import PrefetchTestSupport

/// Redirects: every hop is a request to which all rules apply.
enum RedirectRows {
  static let all = followed + endless + forbidden + refused

  /// Redirects that are followed to a good response.
  private static let followed =
    [301, 302, 303, 307, 308].map { status in
      Row("one redirect by \(status)", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        scene.attempt == 1 ? scene.redirect("/other", status: status) : scene.good
      }
    } + [
      Row("five redirects", "added 0 x6", "updated 0 x6", "added 0 x6") { scene in
        scene.attempt <= 5 ? scene.redirect("/hop\(scene.attempt)") : scene.good
      },
      Row("an absolute redirect", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        scene.attempt == 1 ? scene.redirect("\(scene.origin)/other") : scene.good
      },
      Row("a redirect without a scheme", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        let host = scene.request.headers["Host"] ?? ""
        return scene.attempt == 1 ? scene.redirect("//\(host)/other") : scene.good
      },
      Row("a redirect to a query", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        scene.attempt == 1 ? scene.redirect("?a=b") : scene.good
      },
      Row("a redirect with a fragment", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        scene.attempt == 1 ? scene.redirect("/other#part") : scene.good
      },
      Row("a redirect with dots", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        scene.attempt == 1 ? scene.redirect("/a/../../other") : scene.good
      },
      Row("a redirect with encoded line ends", "added 0 x2", "updated 0 x2", "added 0 x2") {
        scene in
        scene.attempt == 1 ? scene.redirect("/other%0d%0aX-Evil:%20yes") : scene.good
      },
      Row("a redirect with a body", "added 0 x2", "updated 0 x2", "added 0 x2") { scene in
        guard scene.attempt == 1 else { return scene.good }
        return .respond(302, [("Location", "/other")], text: "<html>moved</html>")
      },
      Row("a redirect to what is gone", "gone 4 x2", "gone 3 x2", "gone 4 x2") { scene in
        scene.attempt == 1 ? scene.redirect("/other") : .respond(404)
      },
      Row("a redirect to a closed port", "connect 4", "connect 3", "connect 4") {
        $0.redirect("http://127.0.0.1:1/")
      }
      // A step down from TLS is forbidden before anything is connected.
      .with { $0.setSecureVerdict("redirect_forbidden 5 x1") },
    ]

  private static let endless = [
    Row("a redirect to itself", "redirect_limit 4 x1", "redirect_limit 3 x1", "redirect_limit 4 x1")
    {
      $0.redirect("/item")
    },
    Row("an empty Location", "redirect_limit 4 x1", "redirect_limit 3 x1", "redirect_limit 4 x1") {
      $0.redirect("")
    },
    Row("redirects in a ring", "redirect_limit 4", "redirect_limit 3", "redirect_limit 4") {
      $0.redirect($0.request.path == "/item" ? "/other" : "/item")
    },
    Row("six redirects", "redirect_limit 4 x6", "redirect_limit 3 x6", "redirect_limit 4 x6") {
      $0.redirect("/hop\($0.attempt)")
    },
  ]

  private static let forbidden =
    [
      "file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "javascript:alert(1)",
      "data:text/plain,x", "ldap://127.0.0.1/x", "FILE:///etc/passwd",
    ].map { location in
      Row(
        "a redirect to \(location)",
        "redirect_forbidden 5 x1",
        "redirect_forbidden 5 x1",
        "redirect_forbidden 5 x1"
      ) { $0.redirect(location) }
    } + [
      Row(
        "a redirect with credentials",
        "redirect_forbidden 5 x1",
        "redirect_forbidden 5 x1",
        "redirect_forbidden 5 x1"
      ) { $0.redirect($0.origin.replacing("//", with: "//user:secret@") + "/other") },
      Row(
        "a redirect to another host where none is allowed",
        "redirect_forbidden 5 x1",
        "redirect_forbidden 5 x1",
        "redirect_forbidden 5 x1"
      ) { $0.redirect($0.origin.replacing("127.0.0.1", with: "127.0.0.2") + "/other") }
      .with { $0.settings = "redirects: { cross_host: false }" },
      Row(
        "a redirect to plain http elsewhere",
        "transport_security 5 x1",
        "transport_security 5 x1",
        "transport_security 5 x1"
      ) { $0.redirect("http://192.0.2.1/other") }
      .with { $0.setSecureVerdict("redirect_forbidden 5 x1") },
      Row(
        "a redirect that is not to be followed",
        "redirected 4 x1",
        "redirected 3 x1",
        "redirected 4 x1"
      ) { $0.redirect("/other") }
      .with { $0.settings = "redirects: { follow: false }" },
    ]

  private static let refused =
    [
      ("a Location that is no URL", "http://[::1/"),
      ("a Location without a host", "http:///other"),
      ("a Location with a port that is none", "http://127.0.0.1:99999/"),
      ("a Location of 10 kB", "/" + String(repeating: "a", count: 10_000)),
      ("a Location with a backslash", "http:\\\\127.0.0.1\\other"),
    ].map { name, location in
      Row(name, "bad_response 4 x1", "bad_response 3 x1", "bad_response 4 x1") {
        $0.redirect(location)
      }
    }
}
