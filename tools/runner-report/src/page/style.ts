const CHARTS = `
.symbols{position:absolute}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;font-size:.8125rem;color:var(--soft)}
.mark{width:.8em;height:.8em;vertical-align:-.04em;overflow:visible}
.key{width:1.4em;height:.8em;vertical-align:-.04em}
.success{fill:var(--good);color:var(--good)}
.failed,.rolled_back{fill:var(--bad);color:var(--bad)}
.unfinished{fill:var(--odd);color:var(--odd)}
.by_hand{fill:var(--ink);color:var(--ink)}
.stroke{fill:none;stroke:currentColor;stroke-width:2.2;stroke-linecap:round}
.hollow{fill:var(--card);stroke:currentColor;stroke-width:1.8}
.median{fill:none;stroke:var(--ink);stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}
.plot,.axis{container-type:inline-size}
.plot+h3{margin-top:2.75rem!important}
.plot{position:relative;height:13.5rem;margin:1rem .25rem 1.75rem 2.5rem}
.plot svg{overflow:visible}
.plot>svg{position:absolute;inset:0;width:100%;height:100%}
.plot rect.rolled_back{opacity:.55}
.leads line{stroke:var(--ink);stroke-width:1}
.grid line{stroke:var(--line);stroke-width:1;shape-rendering:crispEdges}
.base{stroke:var(--soft);stroke-width:1;shape-rendering:crispEdges}
.x,.y{position:absolute;font-size:.75rem;line-height:1;color:var(--soft);white-space:nowrap}
.y{right:100%;margin-right:.6rem;transform:translateY(-50%)}
.x{top:100%;margin-top:.55rem;transform:translateX(-50%)}
.points circle{fill:var(--good);fill-opacity:.5}
.points .stroke{stroke-width:1.5}
.pin{position:absolute;transform:translate(-50%,-50%);width:1.15rem;height:1.15rem;border-radius:50%;
background:var(--card);border:1.5px solid var(--ink);font-size:.6875rem;font-weight:600;line-height:1;
display:grid;place-items:center}
.bars{display:grid;gap:.3rem 0;font-size:.875rem;counter-reset:bar}
.bars li{display:grid;grid-template-columns:minmax(6rem,2.2fr) minmax(2rem,1.4fr) 4.6rem minmax(6rem,1.9fr);gap:.75rem;align-items:baseline}
ol.bars .name::before{counter-increment:bar;content:counter(bar);display:inline-grid;place-items:center;width:1.15rem;height:1.15rem;
margin-right:.5rem;border:1.5px solid var(--ink);border-radius:50%;font-size:.6875rem;font-weight:600;line-height:1}
.bar{height:.5rem;align-self:center}
.bar i,.count i{display:block;height:100%;background:var(--good);border-radius:1px;min-width:2px}
.value{text-align:right;font-weight:600;white-space:nowrap}
.causes{display:grid;gap:.7rem}
.causes li{display:grid;grid-template-columns:3.25rem minmax(0,1fr);gap:1rem}
.causes code{display:block}
.count b{display:block;text-align:right;font-size:1.0625rem;line-height:1.3;font-weight:600}
.count i{height:3px;margin-left:auto;background:var(--bad)}
.lanes{position:relative;display:grid;gap:.55rem;--label:9.5rem;--active:7.5rem}
.lane{display:grid;grid-template-columns:var(--label) minmax(0,1fr) var(--active);align-items:start}
.lane>code{padding-left:.75rem;line-height:1.75rem;font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.label{padding-right:1rem;line-height:1.75rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.label b{font-weight:600}
.track,.versions{position:relative}
.versions{height:1.75rem}
.versions div{position:absolute;inset-block:0;border-right:1px solid var(--card);overflow:hidden;
color:var(--on-even);font:500 .75rem/1.75rem ui-monospace,"JetBrains Mono",SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.versions div::before{content:"";display:inline-block;width:.35rem}
.versions span{display:inline-block;white-space:nowrap;padding-right:.35rem}
.even{background:var(--even)}
.versions .odd{background:var(--alt)}
.now{background:var(--good)}
.versions .now{color:var(--on-now);border-right:0}
.legend .now{display:inline-block;width:1.1em;height:.8em;vertical-align:-.04em;border-radius:1px}
.marks{display:block;width:100%;height:.875rem;overflow:visible}
.marks>svg{overflow:visible}
.under{position:absolute;inset:0 var(--active) 1.5rem var(--label);pointer-events:none}
.under svg{width:100%;height:100%}
.axis{position:relative;height:1.25rem;margin:0 var(--active) 0 var(--label)}
.axis .x{top:0}
@container (max-width:42rem){.x:nth-child(even){display:none}}
@container (max-width:22rem){.x:not(:nth-child(4n+1)){display:none}}
@media (max-width:40rem){.lanes{--label:0rem;--active:0rem}.under{display:none}
.lane{grid-template-columns:minmax(0,1fr) auto}.lane .track{grid-column:1/-1;order:3}
.lane>:is(.label,code){line-height:1.6;padding:0}
.bars li{grid-template-columns:1fr auto;gap:.05rem .75rem;margin-bottom:.35rem}
.bars .bar{grid-row:3;grid-column:1/-1}
.bars .soft{grid-row:2;grid-column:1/-1}}
`;

/** Styles of the charts. */
export const PICTURES = CHARTS.replaceAll('\n', '');
