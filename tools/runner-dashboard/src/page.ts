/** The pages: one file each, drawn from parts that are also sent alone when they change. */
import { createHash } from 'node:crypto';
import { type AppSummary, needsAttention } from '@runner/common/apps/summary';
import { timeOfIso } from '@runner/common/text/time';
import { type HistoryRow, versionOfRow } from '@runner/history/deploys/deploy';
import { countWords, factsOf, reasonWords, versionWords } from '@runner/history/now/facts';
import type { Snapshot } from '@runner/history/now/snapshot';
import { foreign, Html, html } from '@runner/page/html';
import { STYLE } from '@runner/page/style';
import { lengthOf, timeTag } from '@runner/page/words';
import { SCRIPT } from './script.ts';

/** HTML by the id of its element, in the order of the page. */
export type Parts = ReadonlyMap<string, string>;

/** An app, and the end of its log. */
export interface AppPart {
  readonly app: AppSummary;
  readonly log: readonly string[];
}

const OWN =
  '.log{white-space:pre-wrap;font-size:.8125rem}.apps h3 a{color:inherit}#live{color:var(--soft)}';
const ALL_STYLES = STYLE + OWN;
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Of every answer: the browser runs and loads nothing that is not this page's own. */
export const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    `connect-src 'self'; style-src ${hashOf(ALL_STYLES)}; script-src ${hashOf(SCRIPT)}`,
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Longest texts, in characters. */
const TEXT = 300;
const NAME = 63;

function documentOf(title: string, events: string | undefined, body: Html): string {
  const live =
    events === undefined
      ? undefined
      : html`<noscript><meta http-equiv="refresh" content="5"></noscript><script type="module" data-events="${events}" id="stream">${new Html(SCRIPT)}</script>`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${title}</title><style>${new Html(ALL_STYLES)}</style>${live}</head>
<body>${body}</body></html>
`.text;
}

/** A page of one sentence. */
export function messagePage(text: string): string {
  return documentOf(text, undefined, html`<main><h1>${text}</h1></main>`);
}

/** The overview for `''`, else the page of an app. */
export function pageOf(app: string, parts: Parts): string {
  const all = new Map(parts);
  const summary = new Html(all.get('summary') ?? '');
  all.delete('summary');
  const body = new Html([...all.values()].join('\n'));
  const foot = html`<footer><p id="live" role="status">Times are in UTC.</p></footer>`;
  if (app === '')
    return documentOf(
      'runner',
      'events',
      html`<header><h1>runner</h1>${summary}</header>
<main>${new Html(all.get('running') ?? '')}<section class="card wide" aria-labelledby="h-apps"><h2 id="h-apps">Apps</h2><ul class="apps">${new Html([...all].flatMap(([id, text]) => (id === 'running' ? [] : [text])).join('\n'))}</ul></section></main>${foot}`,
    );
  return documentOf(
    `${app} – runner`,
    `${encodeURIComponent(app)}/events`,
    html`<header><h1><a href="../">runner</a> <span>${foreign(app, NAME)}</span></h1>${summary}</header><main>${body}</main>${foot}`,
  );
}

/** What cannot be read, below `words`: the summary of the overview, or all there is to say of an app. */
export function summaryPart(unreadable: readonly string[], words?: Html): [string, string] {
  const each = unreadable.map(
    (name) => html`<p class="soft">cannot be read: ${foreign(name, TEXT)}</p>`,
  );
  return ['summary', html`<div id="summary">${words}${each}</div>`.text];
}

/** All apps; those that are being deployed come first, with the end of their logs. */
export function overviewParts(now: Snapshot, running: readonly AppPart[]): Parts {
  const logs = running.map(
    (part) => html`<section class="card wide" aria-label="Running deploy of ${part.app.app}">
<h2>${foreign(part.app.app, NAME)} <small>${foreign(reasonWords(part.app), TEXT)}</small></h2>${logOf(part)}</section>`,
  );
  const parts = new Map([
    summaryPart(now.unreadable, html`<p>${countWords(now)}</p>`),
    [
      'running',
      html`<div id="running" class="wide"${running.length === 0 ? new Html(' hidden') : undefined}>${logs}</div>`
        .text,
    ],
  ]);
  for (const app of now.apps) {
    const card = cards.get(app) ?? cardOf(app).text;
    cards.set(app, card);
    parts.set(`app-${app.app}`, card);
  }
  return parts;
}

/** Drawn once for a summary, which is kept while it says the same. */
const cards = new WeakMap<AppSummary, string>();

function chipOf(app: AppSummary): Html {
  return html`<span class="chip${needsAttention(app) ? ' bad' : ''}">${app.state}</span>`;
}

function cardOf(app: AppSummary): Html {
  const [first] = app.instances;
  const since = first?.active_since;
  const by = first?.active_by ? html`, ${foreign(first.active_by, 30)}` : undefined;
  const when = since
    ? html`<p class="soft">since ${timeTag(timeOfIso(since), true)}${by}</p>`
    : undefined;
  return html`<li id="app-${app.app}"><h3><a href="app/${encodeURIComponent(app.app)}">${foreign(app.app, NAME)}</a> ${chipOf(app)}</h3><p class="version"><code>${foreign(versionWords(app), 60)}</code></p><p class="subject">${foreign(reasonWords(app), TEXT)}</p>${when}</li>`;
}

function logOf({ log }: AppPart): Html {
  if (log.length === 0) return html`<p class="none">No log is kept.</p>`;
  // Each line is made harmless on its own, and keeps its line.
  return html`<pre class="log"><code>${new Html(log.map((line) => html`${line.slice(0, 1_000)}`.text).join('\n'))}</code></pre>`;
}

/** One app: what there is to say of it, its log, and its newest deploys. */
export function appParts(part: AppPart, history: readonly HistoryRow[] | string): Parts {
  const { app } = part;
  const facts = factsOf(app).map(
    ([label, text]) => html`<dt>${foreign(label, NAME)}</dt><dd>${foreign(text, TEXT)}</dd>`,
  );
  const title = app.state === 'deploying' ? 'The running deploy' : 'Log of the last deploy';
  return new Map([
    [
      'summary',
      html`<p id="summary">${chipOf(app)} <code>${foreign(versionWords(app), 60)}</code></p>`.text,
    ],
    [
      'facts',
      html`<section id="facts" class="card wide" aria-labelledby="h-facts"><h2 id="h-facts">Now</h2><dl class="definitions">${facts}</dl></section>`
        .text,
    ],
    [
      'log',
      html`<section id="log" class="card wide" aria-labelledby="h-log"><h2 id="h-log">${title}</h2>${logOf(part)}</section>`
        .text,
    ],
    [
      'deploys',
      html`<section id="deploys" class="card wide" aria-labelledby="h-deploys"><h2 id="h-deploys">Newest deploys</h2>${historyOf(history)}</section>`
        .text,
    ],
  ]);
}

const HEADINGS = ['Time', 'Version', 'Result', 'Took', 'By', 'Subject or cause'] as const;

function historyOf(rows: readonly HistoryRow[] | string): Html {
  if (typeof rows === 'string') return html`<p class="none">${foreign(rows, TEXT)}</p>`;
  if (rows.length === 0) return html`<p class="none">No deploys.</p>`;
  const head = HEADINGS.map((heading) => html`<th scope="col" role="columnheader">${heading}</th>`);
  const cell = (kind: string, content: Html) =>
    html`<td role="cell" class="${kind}">${content}</td>`;
  const body = rows.map((row) => {
    const why = row.cause?.split('\n', 1)[0] || row.subject || '';
    return html`<tr role="row">${[
      cell('when', timeTag(timeOfIso(row.timestamp), true)),
      cell('version', html`<code>${foreign(versionOfRow(row), 40)}</code>`),
      cell('result', html`${row.result.replace('_', ' ')}`),
      cell('took', html`${lengthOf(row.duration_ms)}`),
      cell('by', foreign(row.user ?? row.trigger ?? '', 30)),
      cell('text', foreign(why, TEXT)),
    ]}</tr>`;
  });
  return html`<table class="deploys" role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${body}</tbody></table>`;
}
