import PrefetchCore
import PrefetchCrypto

/// Style of the HTML report, and the policy that forbids all other content.
enum HTMLStyle {
  /// Policy that admits only our style, by its digest, and no loading, scripts or sending.
  static let policy: String = {
    let digest = Base64.encode(SHA256.digest(of: text).bytes)
    return """
      default-src 'none'; style-src 'sha256-\(digest)'; img-src data:; base-uri 'none'; \
      form-action 'none'
      """
  }()

  static let text = [HTMLPalette.rules, page, tables, charts, phone].joined(separator: "\n")

  private static let page = """
    *{box-sizing:border-box}
    body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
    header,main,footer{max-width:70rem;margin:0 auto;padding:0 1.25rem}
    header{padding-top:1.5rem}
    h1{font-size:1.6rem;line-height:1.25;margin:.1rem 0 .6rem;overflow-wrap:anywhere}
    h2{font-size:1.2rem;margin:0 0 .75rem}
    section{margin:2.25rem 0}
    p{margin:.4rem 0;overflow-wrap:anywhere}
    code{font:.92em ui-monospace,monospace;overflow-wrap:anywhere}
    ul{margin:.4rem 0;padding-left:1.2rem}
    li{margin:.2rem 0;overflow-wrap:anywhere}
    .quiet{color:var(--quiet)}
    .good{color:var(--good)}
    .caution{color:var(--caution)}
    .bad{color:var(--bad)}
    .verdict{display:inline-block;border:2px solid;border-radius:.4rem;padding:.1rem .7rem;\
    font-weight:700;font-size:1.1rem}
    nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0;margin:.8rem 0 0}
    a{color:var(--accent)}
    :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
    .tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.5rem,1fr));gap:.6rem;margin:0}
    .tiles div{background:var(--panel);border-radius:.5rem;padding:.5rem .8rem;\
    display:flex;flex-direction:column-reverse;justify-content:flex-end}
    .tiles dd{margin:0;font-size:1.3rem;font-weight:600;font-variant-numeric:tabular-nums}
    .tiles dt{color:var(--quiet);font-size:.9rem}
    .tiles .none dd{color:var(--quiet);font-weight:400}
    .facts{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:0}
    .facts dt{color:var(--quiet)}
    .facts dd{margin:0;overflow-wrap:anywhere}
    .groups{list-style:none;padding:0}
    .groups>li{background:var(--panel);color:var(--ink);border-left:.3rem solid var(--bad);border-radius:.4rem;\
    padding:.6rem .9rem;margin:.6rem 0}
    .groups>li.caution{border-color:var(--caution)}
    summary{cursor:pointer;color:var(--accent);padding:.25rem 0}
    footer{padding-bottom:2rem}
    """

  private static let tables = """
    table{border-collapse:collapse;width:100%}
    caption{text-align:left;color:var(--quiet);padding:0 0 .5rem}
    th,td{padding:.4rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
    thead th{color:var(--quiet);font-weight:600;font-size:.9rem;vertical-align:bottom}
    th:first-child,td:first-child{padding-left:0}
    th:last-child,td:last-child{padding-right:0}
    tbody th{font-weight:400;overflow-wrap:anywhere}
    .number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
    .state{white-space:nowrap;font-weight:600}
    td.none{color:var(--quiet)}
    .about{display:block;color:var(--quiet);font-size:.85rem}
    .about .bad{font-weight:600}
    """

  private static let charts = """
    svg{display:block;width:100%}
    .plot{height:9rem;background:var(--panel);border-radius:.5rem .5rem 0 0;\
    border-bottom:2px solid var(--quiet)}
    .area{fill:var(--receiving)}
    .axis{display:grid;grid-template-columns:repeat(4,1fr);color:var(--quiet);font-size:.85rem;\
    font-variant-numeric:tabular-nums;font-weight:400}
    .axis :nth-child(4){grid-area:1/4}
    .axis :last-child{grid-area:1/4;justify-self:end}
    .runs{height:5rem;margin-bottom:.9rem}
    .runs .good{fill:var(--good)}
    .runs .caution{fill:var(--caution)}
    .runs .bad{fill:var(--bad)}
    .legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0;margin:.4rem 0 .8rem}
    .legend svg{display:inline-block;width:.9rem;height:.9rem;margin-right:.4rem;vertical-align:-.1rem}
    .lookup{fill:var(--lookup)}
    .connecting{fill:var(--connecting)}
    .securing{fill:var(--securing)}
    .queueing{fill:var(--queueing)}
    .waiting{fill:var(--waiting)}
    .receiving{fill:var(--receiving)}
    .failed{fill:var(--bad)}
    .waterfall th:first-child{width:42%}
    .waterfall th,.waterfall td{padding-top:.3rem;padding-bottom:.3rem}
    .waterfall td{padding-top:.6rem}
    .waterfall .axis{margin-top:.2rem}
    .waterfall svg{height:1.1rem;background:linear-gradient(90deg,var(--line) 1px,var(--page) 1px) \
    0 0/25% 100%}
    """

  private static let phone = """
    @media (max-width:46rem){
    header,main,footer{padding-left:1rem;padding-right:1rem}
    .tiles{grid-template-columns:repeat(auto-fill,minmax(6.2rem,1fr))}
    .facts{grid-template-columns:1fr;gap:0}
    .facts dd{margin-bottom:.5rem}
    table,caption,tbody{display:block}
    thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
    tbody tr{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:.6rem 0;\
    border-bottom:1px solid var(--line)}
    tbody th,td{border:0;padding:0;text-align:left}
    tbody th{flex:1 0 100%}
    td[data-label]::before{content:attr(data-label)" ";color:var(--quiet);font-weight:400}
    td.none{display:none}
    .waterfall th:first-child{width:auto}
    .axis :nth-child(4){visibility:hidden}
    .waterfall tbody tr{padding:.4rem 0}
    .waterfall tbody th{font-size:.9rem}
    .waterfall td{flex:1 0 100%;padding:.2rem 0 0}
    .waterfall svg{height:.8rem}
    .waterfall thead{position:static;display:block;width:auto;height:auto;clip-path:none}
    .waterfall thead tr,.waterfall thead th{display:block;padding:0}
    .waterfall thead th:first-child{display:none}
    }
    """
}
