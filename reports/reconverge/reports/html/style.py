"""The style of the HTML report: one sheet for light and dark, wide and narrow."""

STYLE = """
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f7f9;--text:#1c2230;--dim:#5d6678;--line:#dfe3ea;--accent:#2458c5;
--good:#1a7f3c;--good-bg:#e7f5eb;--bad:#b3261e;--bad-bg:#fdecea;--open:#8a5a00;--open-bg:#fff4dc;--odd:#8b35b5;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{--bg:#12151c;--panel:#1a1f29;--text:#e4e8f0;--dim:#98a2b5;--line:#2e3543;
--accent:#7ea6ff;--good:#6fd28f;--good-bg:#14301e;--bad:#ff8b82;--bad-bg:#3b1714;--open:#f0c15c;--open-bg:#372a0b;
--odd:#d39bf0}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
main{max-width:1120px;margin:0 auto;padding:2rem 1.5rem 4rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .8rem}
h2{font-size:1.2rem;line-height:1.3;margin:2.4rem 0 .8rem}
h3{font-size:.95rem;margin:1.4rem 0 .4rem}
p{margin:.4rem 0}
a{color:var(--accent)}
code,.mono{font-family:var(--mono);font-size:.87em}
code.command{display:block;background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.5rem .7rem;
overflow-x:auto;white-space:pre}
.dim{color:var(--dim)}
.claim{padding:.8rem 1rem;border-radius:8px;border-left:4px solid;font-weight:600}
.claim p{margin:.2rem 0 0;font-weight:400}
.claim.good{background:var(--good-bg);border-color:var(--good)}
.claim.bad{background:var(--bad-bg);border-color:var(--bad)}
.claim.open{background:var(--open-bg);border-color:var(--open)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:1rem 0}
dt{color:var(--dim)}
dd{margin:0;min-width:0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.92em}
th{text-align:left;font-weight:600;color:var(--dim)}
th,td{padding:.35rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}
.grid th,.grid td{white-space:nowrap}
.grid tbody th{color:var(--text);font-weight:500;position:sticky;left:0;background:var(--bg)}
.held{color:var(--good)}.violated{color:var(--bad);font-weight:600}.inconclusive{color:var(--open)}
.violated a{color:inherit}
.never{color:var(--dim)}
article{border:1px solid var(--line);border-radius:10px;padding:1.1rem 1.2rem 1.2rem;margin:1.2rem 0}
article h2{margin:0 0 .4rem}
article h2 .number{color:var(--bad);margin-right:.4rem}
.message{font-size:1.05rem;margin:.2rem 0 .6rem}
.tag{display:inline-block;font-size:.75rem;font-weight:500;border:1px solid var(--line);border-radius:99px;
padding:.05rem .55rem;color:var(--dim);vertical-align:middle;margin-left:.5rem}
ol.events{margin:.3rem 0;padding-left:1.5rem}
.lanes{display:grid;grid-template-columns:max-content minmax(0,1fr);background:var(--panel);
border:1px solid var(--line);border-radius:8px;margin:1rem 0}
.lane-names{padding:0 .8rem;border-right:1px solid var(--line);font-size:.82rem;color:var(--dim)}
.lane-names div{height:30px;line-height:30px;white-space:nowrap}
svg{display:block}
svg .lane{stroke:var(--line)}
svg .moment{stroke:var(--line);stroke-dasharray:2 3}
svg text{font-family:inherit;font-size:11px;fill:var(--dim)}
svg .thread{fill:none;stroke:var(--dim);stroke-opacity:.35}
svg .write{fill:var(--accent)}
svg .minor{fill:var(--dim)}
svg .refused{fill:var(--panel);stroke:var(--open);stroke-width:2.5}
svg .event{fill:var(--text)}
svg .event-name{fill:var(--bg);font-weight:700;text-anchor:middle}
svg .broken{stroke:var(--bg);stroke-width:2.5;stroke-linecap:round}
svg .broken-back{fill:var(--bad)}
svg .odd{fill:none;stroke:var(--odd);stroke-width:2;stroke-dasharray:3 2}
svg .loop{fill:var(--odd);fill-opacity:.1}
svg a:focus-visible circle{stroke:var(--accent);stroke-width:3}
.steps{width:100%}
.steps td:first-child{white-space:nowrap}
.steps .when,.steps .who{color:var(--dim);white-space:nowrap;font-size:.9em}
.steps .what{width:100%}
.steps tr.event .who,.steps tr.event .what{color:var(--text);font-weight:600}
.steps tr.minor .what{color:var(--dim)}
.steps tr.broken td{background:var(--bad-bg)}
.steps tr.mark td{color:var(--odd);font-weight:600}
.steps tr:target td{background:var(--open-bg)}
.reason{color:var(--dim);font-weight:400}
.change{font-family:var(--mono);font-size:.85em;font-weight:400}
.before{color:var(--bad)}.after{color:var(--good)}
.deviation{color:var(--odd);font-weight:400}
.end{font-weight:600;margin:.8rem 0 .3rem}
summary{cursor:pointer;color:var(--accent);margin:.6rem 0 .2rem}
footer{margin-top:3rem;color:var(--dim);font-size:.85rem;border-top:1px solid var(--line);padding-top:1rem}
@media (max-width:640px){main{padding:1.2rem .8rem 3rem}
article{padding:.9rem .8rem}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}
.steps,.steps tbody{display:block}
.steps thead{display:none}
.steps tr{display:grid;grid-template-columns:auto 1fr;border-bottom:1px solid var(--line);padding:.35rem 0}
.steps td{border:0;padding:.05rem .4rem}
.steps .what{grid-column:1/-1;width:auto}
.lane-names{padding:0 .5rem}}
@media print{.scroll{overflow:visible}article{break-inside:avoid-page}}
"""
