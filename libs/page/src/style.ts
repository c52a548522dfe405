/** Styles of pages: a light and a dark palette, safe for colour-blind readers. */

const PALETTE = `
:root{color-scheme:light dark;
--paper:#f6f6f3;--card:#fff;--ink:#1c2127;--soft:#5b6470;--line:#e2e2dc;
--good:#2a6ab0;--bad:#bf400d;--odd:#7b828c;--even:#dfeaf6;--alt:#c6daef;--on-even:#1c3553;--on-now:#fff}
@media (prefers-color-scheme:dark){:root{
--paper:#101316;--card:#181c20;--ink:#e9ebee;--soft:#a1aab5;--line:#2b3138;
--good:#6ba6e8;--bad:#f28d52;--odd:#8d96a1;--even:#1f3044;--alt:#2a4262;--on-even:#d5e5f7;--on-now:#0d1c2d}}
`;

const TEXT = `
*{box-sizing:border-box;margin:0}
html{-webkit-text-size-adjust:100%}
body{background:var(--paper);color:var(--ink);
font:400 .9375rem/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;
font-variant-numeric:tabular-nums;overflow-wrap:anywhere;padding:clamp(1rem,2.2vw,2.25rem)}
header,main,footer{max-width:94rem;margin-inline:auto}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;justify-content:space-between;
margin-bottom:clamp(1rem,1.6vw,1.5rem)}
h1{font-size:clamp(1.4rem,1rem + 1.5vw,2rem);font-weight:650;letter-spacing:-.02em;line-height:1.2}
h1 span{color:var(--soft);font-weight:400}
h2{font-size:1.0625rem;font-weight:650;letter-spacing:-.01em;line-height:1.3}
h3{font-size:.9375rem;font-weight:600;line-height:1.35}
.card>h3{margin-top:1.4rem}
small{font-size:.8125rem;font-weight:400;letter-spacing:0;color:var(--soft);margin-left:.35em}
header p,footer,.soft,.none,.more{color:var(--soft)}
.soft,.more,footer{font-size:.8125rem}
code{font:.875em/1.45 ui-monospace,"JetBrains Mono",SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-variant-ligatures:none}
ul,ol{list-style:none;padding:0}
a{color:var(--good);text-decoration:underline;text-decoration-thickness:1px;text-underline-offset:.18em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--good);outline-offset:2px;border-radius:3px}
summary{cursor:pointer;color:var(--soft);font-size:.8125rem;width:max-content;padding:.15rem 0}
footer{margin-top:1.25rem}
`;

const LAYOUT = `
main{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:clamp(.75rem,1.2vw,1.25rem)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.625rem;
padding:clamp(1rem,1.5vw,1.5rem);display:flow-root}
.column{display:grid;gap:inherit;grid-template-rows:auto 1fr}
.wide,.figures{grid-column:1/-1}
.card>*+*{margin-top:.75rem}
.card>.more{border-top:1px solid var(--line);padding-top:.6rem}
.figures{display:grid;grid-template-columns:repeat(5,1fr);background:var(--card);border:1px solid var(--line);
border-radius:.625rem;overflow:hidden}
.figures div{padding:clamp(.8rem,1.3vw,1.25rem) clamp(1rem,1.5vw,1.5rem);border-left:1px solid var(--line);margin-left:-1px}
.figures dt{font-size:.8125rem;color:var(--soft)}
.figures b{display:block;font-size:clamp(1.45rem,1rem + 1.4vw,2.1rem);font-weight:600;letter-spacing:-.025em;line-height:1.25;white-space:nowrap}
.apps{display:grid;grid-template-columns:repeat(auto-fill,minmax(11.5rem,1fr));gap:1.1rem 1.5rem}
.apps li{border-top:2px solid var(--good);padding-top:.5rem;min-width:0}
.apps li:has(.bad){border-color:var(--bad)}
.apps .version code{font-size:1.25rem;font-weight:600;letter-spacing:-.02em}
.apps .subject{display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden;font-size:.875rem}
.chip{display:inline-block;font-size:.75rem;font-weight:600;line-height:1.4;padding:0 .45em;border:1px solid var(--odd);
border-radius:1em;vertical-align:.08em}
.chip.bad{color:var(--bad);border-color:currentColor}
.definitions{display:grid;grid-template-columns:max-content 1fr;gap:.45rem 1.25rem;font-size:.875rem}
.definitions dt{font-weight:600}
.definitions dd{color:var(--soft)}
@media (max-width:62rem){main{grid-template-columns:minmax(0,1fr)}}
@media (max-width:48rem){.figures{grid-template-columns:repeat(2,1fr)}
.figures div{border-top:1px solid var(--line);margin-top:-1px}
.figures div:first-child{grid-column:1/-1}}
@media (max-width:36rem){.apps{grid-template-columns:minmax(0,1fr);gap:.7rem}
.apps li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 .75rem;border-top-width:1px;align-items:baseline}
.apps .version code{font-size:1rem}.apps :is(.subject,.soft){grid-column:1/-1}
.definitions{grid-template-columns:1fr;gap:0}.definitions dd{margin-bottom:.5rem}}
`;

const TABLE = `
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:baseline;padding:.35rem .9rem .35rem 0}
th{font-size:.8125rem;font-weight:500;color:var(--soft);overflow-wrap:normal}
tr+tr>*,tbody tr:first-child>*{border-top:1px solid var(--line)}
.numbers{font-size:.8125rem;margin-top:.35rem}
.numbers :is(td,thead th+th){text-align:right}
.numbers :is(td,th){padding-block:.2rem}
.deploys{font-size:.875rem}
.deploys :is(.when,.result,.took){white-space:nowrap}
.deploys .when,.deploys .took,.deploys .by{color:var(--soft)}
.deploys .app{font-weight:600}
.deploys .app .soft{font-weight:400}
.deploys .version{min-width:8rem}
.deploys :is(.app,.by){min-width:5rem}
.deploys .text{width:45%;padding-right:0}
@media (max-width:52rem){.deploys,.deploys tbody{display:block}
.deploys thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.deploys tr{display:flex;flex-wrap:wrap;gap:.1rem .75rem;padding:.6rem 0;
border-top:1px solid var(--line);align-items:baseline}
.deploys td{padding:0;border:0!important;order:1}
.deploys .app{flex:1 1 50%}.deploys .text{flex-basis:100%;order:2}
.deploys :is(.version,.when,.took,.by){order:3;min-width:0;font-size:.8125rem}
.deploys .when{order:4;flex-grow:1}.deploys .took{order:5}.deploys .by{order:6}}
`;

const PRINT = `
@media print{@page{margin:14mm}body{padding:0;background:#fff;font-size:9pt}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.card,.figures{break-inside:avoid;border-radius:0}
.card:has(.deploys){break-inside:auto}tr,.apps li,.causes li,.lane{break-inside:avoid}
details{display:none}a{color:inherit}}
@media (forced-colors:active){svg,.track,.bar{forced-color-adjust:none}}
`;

/** What every page needs. */
export const STYLE = [PALETTE, TEXT, LAYOUT, TABLE, PRINT].join('').replaceAll('\n', '');
