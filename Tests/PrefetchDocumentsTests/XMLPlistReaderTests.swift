import PrefetchCore
import PrefetchDocuments
import Testing

@Suite("XML property lists")
struct XMLPlistReaderTests {
  @Test(
    "Valid values become the tree that is written",
    arguments: [
      ("<dict/>", "{}"),
      ("<array></array>", "[]"),
      (
        "<dict><key>a</key><array><true/><false></false></array><key/><string/></dict>",
        "{a=[boolean:true, boolean:false], =string:}"
      ),
      ("<string> a &amp; &#x20ac;<![CDATA[<b>]]> </string>", "string: a & €<b> "),
      ("<string>a<!-- no -->b</string>", "string:ab"),
      ("<integer> -12 </integer>", "number:-12"),
      ("<integer>+7</integer>", "number:7"),
      ("<integer>0x1F</integer>", "number:31"),
      ("<real> 1.50 </real>", "number:1.50"),
      ("<real>-2e3</real>", "number:-2e3"),
      ("<date>2024-02-29T23:59:59Z</date>", "date:2024-02-29T23:59:59Z"),
      ("<data>\n\tSGVs\n\tbG8=\n</data>", "data:SGVsbG8="),
      ("<data></data>", "data:"),
    ]
  )
  func valid(_ body: String, _ shape: String) {
    let doctype =
      "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://example.com/p.dtd\">"
    for head in ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(doctype)\n", "\u{FEFF}", ""] {
      let text = head + "<plist version=\"1.0\">\n<!-- c -->\(body)\n</plist>\n"
      #expect(outcome(read(text, .xmlPlist)) == shape)
    }
  }

  @Test(
    "A fault names its place and what to change",
    arguments: [
      (
        "<plist><dict><key>a</key></dict></plist>",
        "1:26+1 document.syntax the last key of this `<dict>` has no value"
      ),
      (
        "<plist><dict><key>a</key><key>b</key></dict></plist>",
        "1:26+5 document.syntax the key before this `<key>` has no value"
      ),
      (
        "<plist><dict>\n<string>a</string></dict></plist>",
        "2:1+8 document.syntax `<string>` has no `<key>` before it"
      ),
      (
        "<plist><array><key>a</key></array></plist>",
        "1:15+5 document.syntax `<key>` is outside of a `<dict>`"
      ),
      ("<plist><key>a</key></plist>", "1:8+5 document.syntax `<key>` is outside of a `<dict>`"),
      (
        "<plist><dict><key>é</key><true/>\n<key>é</key><true/></dict></plist>",
        "2:6+1 document.duplicate-key duplicate key `é`, first written on line 1"
      ),
      (
        "<plist><strng>a</strng></plist>",
        "1:8+7 document.syntax `<strng>` is not an element of a property list"
      ),
      (
        "<html><body/></html>",
        "1:1+6 document.syntax `<html>` is not a property list, expected `<plist>`"
      ),
      (
        "<plist><string>é<b/></string></plist>",
        "1:17+4 document.syntax `<b>` is not an element of a property list"
      ),
      (
        "<plist><string><true/></string></plist>",
        "1:16+7 document.syntax `<string>` holds text, not `<true>`"
      ),
      ("<plist><true/><false/></plist>", "1:15+8 document.syntax a property list holds one value"),
      ("<plist> </plist>", "1:1+1 document.empty the property list holds no value"),
      (
        "<plist><array>\n x</array></plist>",
        "2:2+1 document.syntax text is outside of an element"
      ),
      ("<plist><true>x</true></plist>", "1:14+1 document.syntax `<true/>` holds no text"),
      ("<plist><integer>1.5</integer></plist>", "1:17+3 document.syntax `1.5` is not an integer"),
      ("<plist><integer>0x</integer></plist>", "1:17+2 document.syntax `0x` is not an integer"),
      ("<plist><integer/></plist>", "1:8+10 document.syntax `` is not an integer"),
      ("<plist><real>nan</real></plist>", "1:14+3 document.syntax `nan` is not a number"),
      ("<plist><real>0x1p3</real></plist>", "1:14+5 document.syntax `0x1p3` is not a number"),
      (
        "<plist><date>2023-02-29T00:00:00Z</date></plist>",
        "1:14+20 document.syntax `2023-02-29T00:00:00Z` is not a date such as `2026-03-01T12:00:00Z`"
      ),
      (
        "<plist><data>SGVsbG8</data></plist>",
        "1:14+7 document.syntax the text of `<data>` is not base64"
      ),
      (
        "<plist><array></dict></plist>",
        "1:17+1 document.syntax this end tag does not fit the element that is open"
      ),
      (
        "<plist><array>",
        "1:15+1 document.syntax the document ends too early, an element is not closed"
      ),
      ("<plist><string>a & b</string></plist>", "1:19+1 document.syntax this is not XML"),
      (
        "<plist><string>&nbsp;</string></plist>",
        "1:16+1 document.entity the entity is not known"
      ),
      (
        "<!DOCTYPE plist SYSTEM \"x.dtd\"><plist><string>a&nbsp;b</string></plist>",
        "1:48+1 document.entity the entity is not known"
      ),
      ("<plist/><plist/>", "1:9+1 document.syntax the document ends before this"),
      ("<plist><stri", "1:8+1 document.syntax this is not closed before the document ends"),
      (
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><plist><true/></plist>",
        "1:1+43 document.encoding the document says it is written in `ISO-8859-1`"
      ),
      (
        "<!DOCTYPE plist [\n<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
        "2:12+1 document.entity a plist may not declare entities"
      ),
      (
        "<!DOCTYPE plist [<!ENTITY % a SYSTEM \"file:///etc/passwd\"> %a;]><plist><true/></plist>",
        "1:58+1 document.entity a plist may not declare entities"
      ),
    ]
  )
  func faults(_ text: String, _ fault: String) {
    #expect(outcome(read(text, .xmlPlist)) == fault)
  }

  @Test("Positions are those of texts, or of the tag without one")
  func locations() throws {
    let text = """
      <plist><dict>
        <key>é</key> <string>ü &amp; x</string>
        <key>b</key>
        <array><true/><data>
          AA==
        </data></array>
      </dict></plist>
      """
    let node = try #require(read(text, .xmlPlist).node)
    #expect(node.locations == "1:8+6{2:8+1=2:24+9 3:8+1=4:3+7[4:10+7 5:5+4]}")
  }

  @Test("A fault inside a value names its key path")
  func path() {
    let text =
      "<plist><dict><key>a</key><array><true/><integer>x</integer></array></dict></plist>"
    #expect(read(text, .xmlPlist).diagnostics.first?.path == "a[1]")
  }
}
