/** The lists of active versions, causes of failures, and deploys. */

import { foreign, type Html, html, percent } from '@runner/page/html';
import { countOf, lengthOf, timeTag } from '@runner/page/words';
import type { Cause } from '../model/causes.ts';
import type { Report } from '../model/report.ts';
import type { DatabaseNote, DeployRow } from '../model/rows.ts';
import type { RunningVersion } from '../model/running.ts';
import { markOf, more, row, table } from './parts.ts';

/** States that need an operator, as in `runner status --check`. */
const BAD = /^(broken|down|blocked|stale|failing|interrupted)$/;

export function runningCard({ running }: Report): Html {
  const { shown, omitted } = running;
  return html`<section class="card wide" aria-labelledby="h-now">
<h2 id="h-now">What runs now</h2>
${shown.length === 0 ? html`<p class="none">Nothing has been deployed yet.</p>` : html`<ul class="apps">${shown.map(appOf)}</ul>`}
${more(omitted, 'more')}
</section>`;
}

function appOf({ project, instance, state, version, subject, since, by }: RunningVersion): Html {
  const chip =
    state === '' || state === 'ok'
      ? undefined
      : html` <span class="chip${BAD.test(state) ? ' bad' : ''}">${state}</span>`;
  const place =
    instance === '' || instance === 'default'
      ? undefined
      : html` <span class="soft">${foreign(instance, 60)}</span>`;
  const when = Number.isNaN(since)
    ? undefined
    : html`<p class="soft">since ${timeTag(since, true)}${by === '' ? undefined : html`, ${foreign(by, 30)}`}</p>`;
  return html`<li><h3>${foreign(project, 63)}${place}${chip}</h3><p class="version"><code>${version === '' ? '–' : foreign(version, 40)}</code></p><p class="subject">${foreign(subject, 90)}</p>${when}</li>`;
}

export function causesCard({ causes }: Report): Html {
  const { shown, omitted } = causes;
  const most = shown[0]?.count ?? 1;
  return html`<section class="card" aria-labelledby="h-causes">
<h2 id="h-causes">Why deploys failed <small>grouped; the newest line of each</small></h2>
${shown.length === 0 ? html`<p class="none">No deploy failed.</p>` : html`<ol class="causes">${shown.map((cause) => causeOf(cause, most))}</ol>`}
${more(omitted, 'other causes')}
</section>`;
}

function causeOf({ line, project, version, stage, count, apps, last }: Cause, most: number): Html {
  const others =
    apps > 1 ? html` and ${apps - 1} ${apps === 2 ? 'other app' : 'other apps'}` : undefined;
  return html`<li><span class="count"><b>${countOf(count)}</b><i style="width:${percent(count / most)}"></i></span><div><code>${foreign(line, 200)}</code><p class="soft">${stage === '' ? undefined : html`${foreign(stage, 30)}, `}${foreign(project, 40)}${others}, last in <bdi>${version.slice(0, 40)}</bdi> on ${timeTag(last)}</p></div></li>`;
}

const HEADINGS = ['Time', 'App', 'Version', 'Result', 'Took', 'By', 'Subject or cause'] as const;

export function deploysCard({ rows }: Report): Html {
  const { shown, omitted } = rows;
  const body =
    shown.length === 0 ? html`<p class="none">No deploys.</p>` : table(HEADINGS, shown.map(rowOf));
  return html`<section class="card wide" aria-labelledby="h-deploys">
<h2 id="h-deploys">Deploys <small>newest first</small></h2>
${body}
${more(omitted, 'earlier deploys: runner history')}
</section>`;
}

function rowOf(deploy: DeployRow): Html {
  const { at, project, instance, version, outcome, result, ms, by, text, link, database } = deploy;
  const name = html`<code>${outcome === 'by_hand' ? '← ' : ''}${version === '' ? '–' : foreign(version, 40)}</code>`;
  const linked = link === '' ? name : html`<a href="${link}" rel="noreferrer">${name}</a>`;
  const place =
    instance === '' || instance === 'default'
      ? undefined
      : html`<span class="soft">/${foreign(instance, 40)}</span>`;
  return row({
    when: timeTag(at),
    app: html`${foreign(project, 63)}${place}`,
    version: linked,
    result: html`${markOf(outcome)} ${result}`,
    took: html`${lengthOf(ms)}`,
    by: foreign(by, 30),
    text: html`${foreign(text, 120)}${database && databaseLine(database)}`,
  });
}

function databaseLine({ words, backup, restore }: DatabaseNote): Html {
  const kept = backup === '' ? undefined : html`; backup ${foreign(backup, 40)}`;
  const how =
    restore === ''
      ? undefined
      : html`; to restore what was before: <code>${foreign(restore, 300)}</code>`;
  return html`<p class="soft">${foreign(words, 400)}${kept}${how}</p>`;
}
