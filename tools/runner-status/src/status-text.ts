/** One app for people, in lines that fit the terminal. */

import { DISK_PARTS } from '@runner/common/apps/disk';
import { followedWords, repoLabel } from '@runner/common/apps/following';
import { type Paused, type Stopped, shownHoldWords } from '@runner/common/apps/operator';
import { uncheckedWords } from '@runner/common/apps/preview';
import { operationWord, progressText } from '@runner/common/apps/progress';
import type { Deploying } from '@runner/common/apps/state';
import { type AppSummary, badRelease, isHealthy, troublesOf } from '@runner/common/apps/summary';
import { deployedSince, overWords } from '@runner/common/apps/versions';
import { fields, type Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { sizeText } from '@runner/common/text/size';
import { utcText } from '@runner/common/text/time';
import type { Detailed } from './details.ts';
import { instanceRow, short } from './instance-lines.ts';
import {
  certificatesRow,
  databaseRow,
  fileRow,
  jobsRow,
  type LabelledLines,
  watchRow,
} from './release-rows.ts';

/** An app that needs an operator, or whose requests are held, in one line. */
export function unhealthyLine(summary: AppSummary): string {
  const { app, state, check_failed: failed, next, traffic_hold: hold } = summary;
  const why =
    state === 'stale' && failed
      ? `fetch fails since ${utcText(failed.since)}: ${failed.message}`
      : next;
  // The state is that of the app without these.
  const isWell = isHealthy({ ...summary, watched: null, jobs: [], traffic_hold: null });
  const own = isWell ? [] : [`${state}: ${why}`];
  const held = hold ? [shownHoldWords(app, hold)] : [];
  return harmlessLine(`${app}: ${[...own, ...troublesOf(summary), ...held].join('; ')}`);
}

/** Why the branch cannot be checked. */
function refusal({ check_failed: failed }: AppSummary): string[] {
  if (!failed) return [];
  return [`fails since ${utcText(failed.since)}, nothing new is deployed`, failed.message];
}

/** `waiting: 2 of 3 checks of 1a2b3c` has its label in it. */
function checksRow({ checks }: Detailed): LabelledLines[] {
  if (!checks) return [];
  const at = checks.text.indexOf(': ');
  return [[checks.text.slice(0, at + 1), [checks.text.slice(at + 2)]]];
}

/** What an operator stopped or paused, since when and why. */
function operatorLines({ since, by, reason, ...rest }: Stopped | Paused): string[] {
  const what = 'instances' in rest ? `${rest.instances.join(', ')} ` : '';
  const until = 'until' in rest && rest.until ? `, until ${utcText(rest.until)}` : '';
  return [`${what}since ${utcText(since)} by ${by}${until}`, ...(reason ? [reason] : [])];
}

function operatorRows({ app, stopped, paused, traffic_hold: hold }: Detailed): LabelledLines[] {
  return [
    ...(stopped ? [['stopped:', operatorLines(stopped)] as LabelledLines] : []),
    ...(paused ? [['paused:', operatorLines(paused)] as LabelledLines] : []),
    ...(hold ? [['traffic:', [shownHoldWords(app, hold)]] as LabelledLines] : []),
  ];
}

function windowsRow({ windows }: Detailed): LabelledLines[] {
  if (!windows) return [];
  return [['windows:', [windows.open ? 'open' : `closed ${windows.text}`, ...windows.rules]]];
}

function diskRow({ disk }: Detailed): LabelledLines[] {
  if (!disk || disk.total === 0) return [];
  const size = (bytes: number | null) => (bytes === null ? '?' : sizeText(bytes));
  const used = DISK_PARTS.filter((part) => disk[part] !== 0);
  const parts = used.map((part) => `${part} ${size(disk[part])}`);
  return [['disk:', [`${size(disk.total)}: ${parts.join(', ')}`]]];
}

/** What was deployed after a failure. */
function laterThan(at: string, { instances }: Detailed): string[] {
  const later = deployedSince(instances, at);
  return later.length === 0 ? [] : [overWords(later)];
}

const LABELS: Readonly<Record<string, string>> = {
  rollback: 'rolling back:',
  start: 'starting:',
  stop: 'stopping:',
  restart: 'restarting:',
};

function stateWords(app: Detailed): string {
  const troubled = app.jobs.flatMap(({ job, trouble }) => (trouble === null ? [] : job));
  const inTrouble = troubled.length > 0 ? [`in trouble: job ${troubled.join(', ')}`] : [];
  const judged = badRelease(app) ? ['judged bad'] : [];
  return [app.state, ...judged, ...inTrouble].join(', but ');
}

/** The operation that runs, or ran when its process died. */
function operationRow({ state }: Detailed, operation: Deploying, now: Date): LabelledLines {
  const { deploy_id, stage, started, pid, version, user } = operation;
  const what = operationWord(operation);
  const by = `${user === undefined ? '' : `begun by ${user}, `}deploy ${deploy_id}`;
  if (state !== 'interrupted') {
    const lines = [`${version}, ${progressText(stage, started, now)}`, `${by}, process ${pid}`];
    return [LABELS[what] ?? 'deploying:', lines];
  }
  const place = stage === undefined ? '' : ` at ${stage}`;
  return [`${what}:`, [`${version}, interrupted${place}, begun at ${utcText(started)}`, by]];
}

function rowsOf(app: Detailed, now: Date): LabelledLines[] {
  const rows: LabelledLines[] = [
    ['state:', [stateWords(app)]],
    ['repo:', [repoLabel(app)]],
    app.tags ? ['tags:', [followedWords(app).slice('tags '.length)]] : ['branch:', [app.branch]],
    ...(app.paths ? [['paths:', app.paths] as LabelledLines] : []),
    ['token:', [app.token ? 'stored, encrypted' : 'none']],
    ...fileRow(app),
  ];
  rows.push(...app.instances.map((each) => instanceRow(each, app, now)));
  if (app.secrets?.length) rows.push(['secrets:', [app.secrets.join(', ')]]);
  if (app.deploying) rows.push(operationRow(app, app.deploying, now));
  if (app.lock)
    rows.push([
      'lock:',
      [`${app.lock.command}, process ${app.lock.pid}, since ${utcText(app.lock.since)}`],
    ]);
  if (app.failures) {
    const { commit, count, last_at, stage } = app.failures;
    rows.push([
      'failures:',
      [
        `commit ${short(commit)} failed ${count === 1 ? 'once' : `${count} times`} (limit ${app.max_deploy_retries})`,
        `the last one at ${stage}, ${utcText(last_at)}`,
      ],
    ]);
  }
  if (app.last_failure) {
    const { version, at, error, deploy_id } = app.last_failure;
    rows.push([
      'last failure:',
      [
        `${version}, ${utcText(at)}, deploy ${deploy_id}`,
        ...laterThan(at, app),
        error,
        `runner debug last-error ${app.app}`,
      ],
    ]);
  }
  rows.push(...operatorRows(app));
  if (app.held) {
    const { commit, since, reason, by } = app.held;
    const who = by === undefined ? '' : ` by ${by}`;
    rows.push(['held:', [`commit ${short(commit)} since ${utcText(since)}${who}`, reason]]);
  }
  if (app.plans.length > 0)
    rows.push([
      'plans:',
      app.plans.map(({ verb, version, waits }) => `${verb} of ${version} ${waits}`),
    ]);
  rows.push(...watchRow(app), ...databaseRow(app), ...jobsRow(app));
  rows.push(...certificatesRow(app), ...windowsRow(app), ...checksRow(app), ...diskRow(app));
  if (app.previews_failed) rows.push(['previews:', [uncheckedWords(app.previews_failed)]]);
  rows.push(['next:', [app.next]]);
  if (app.last_checked) rows.push(['checked:', [utcText(app.last_checked), ...refusal(app)]]);
  return rows;
}

/** A command to copy: up to `;` or the end of the line. */
const COMMAND = /(?:^|(?<=[:;] ))runner (?:deploy|rollback|debug|fetch) [^;]*;?/g;

/** Wraps a line at spaces; a longer word or command gets its own line. */
function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  const whole = line.replace(COMMAND, (command) => command.replaceAll(' ', '\u00a0'));
  for (const piece of whole.split(' ')) {
    const word = piece.replaceAll('\u00a0', ' ');
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** What `runner status` prints; `columns` is the terminal's width. */
export function statusText(app: Detailed, style: Style, columns: number, now: Date): string {
  const rows = rowsOf(app, now).map(
    ([label, lines]) => [harmlessLine(label), lines.map(harmlessLine)] as const,
  );
  const margin = Math.max(...rows.map(([label]) => label.length)) + 4;
  const width = Math.max(20, columns - margin);
  const shown = rows.map(
    ([label, lines]) => [label, lines.flatMap((line) => wrapped(line, width)).join('\n')] as const,
  );
  return `${style.bold(harmlessLine(app.app))}\n${fields(shown)}`;
}
