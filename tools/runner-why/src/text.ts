/** The answer for people: one screen. */
import { fields, fit, type Style } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import { utcText } from '@runner/common/text/time';
import type { ChangedSince } from './changed.ts';
import type { AppExplanation, FailedDeploy } from './explain.ts';

/** Cells of a line: 80 without the labels. */
const WIDTH = 68;
const WRAPPED = new RegExp(`.{1,${WIDTH}}(?:\\s+|$)|.{1,${WIDTH}}`, 'gu');
/** Most lines of a row; what says why has more. */
const LINES = 4;
const WHY_LINES = 7;
const WHY: readonly string[] = ['failure:', 'cause:', 'because:', 'printed:'];

/** What `runner why` prints: about 20 lines. */
export function explanationText(shown: AppExplanation, style: Style): string {
  const { app, state, next, reasons, failure, printed, since, runs, commands } = shown;
  const isOver = failure !== null && (failure.over !== null || failure.recovered);
  const active = runs.map(({ instance, version, commit, since: at, running }) => {
    const is = running === null ? '' : running ? ', running' : ', not running';
    return `${instance}: ${version} (${commit.slice(0, 12)}) since ${utcText(at)}${is}`;
  });
  const rows: [label: string, lines: string[]][] = [
    ...(failure && !isOver ? failureRows(failure) : []),
    ...(since && !isOver ? sinceRows(since) : []),
    ['because:', reasons],
    ['printed:', printed.split('\n').filter(Boolean)],
    ['failure:', failure ? [] : ['none is on record']],
    ['runs:', active.length > 0 ? active : ['nothing is deployed']],
    ['next:', [next]],
  ];
  const filled = rows.filter(([, lines]) => lines.length > 0);
  const texts = filled.map(([label, lines]) => {
    return [label, shortened(lines, WHY.includes(label) ? WHY_LINES : LINES).join('\n')] as const;
  });
  const typed =
    commands.length > 0 ? [['type:', commands.map(harmlessLine).join('\n')] as const] : [];
  const past = isOver ? `  ${fit(pastLine(failure), WIDTH + 10)}\n` : '';
  return `${style.bold(app)}: ${state}\n${fields([...texts, ...typed])}${past}`;
}

/** A failure that no longer matters. */
function pastLine({ version, stage, over }: FailedDeploy): string {
  const at = stage === null ? '' : ` at ${stage}`;
  const since = over === null ? 'it can be checked again' : `${over} has been deployed since`;
  return harmlessLine(`last failure: ${version}${at}, over: ${since}`);
}

function failureRows(failure: FailedDeploy): [label: string, lines: string[]][] {
  const { version, timestamp, deploy_id, error, cause, subject, author, commit } = failure;
  const deploy = deploy_id === null ? '' : `, deploy ${deploy_id}`;
  const by = author === null ? '' : ` by ${author}`;
  return [
    ['failure:', [`${version}, ${utcText(timestamp)}${deploy}`, error]],
    ['cause:', cause === '' ? [] : cause.split('\n')],
    ['commit:', commit ? [`${commit.slice(0, 12)}${by}${subject ? `: ${subject}` : ''}`] : []],
  ];
}

function sinceRows(since: ChangedSince): [label: string, lines: string[]][] {
  const { version, changes, deploy_file, secrets, files, changed } = since;
  const { count = null, subjects = [], authors = [] } = changes ?? {};
  const commits = count === null ? '' : `: ${count === 1 ? '1 commit' : `${count} commits`}`;
  const by = authors.length > 0 ? ` by ${authors.join(', ')}` : '';
  const more = [
    ...(deploy_file ? ['.deploy.yml'] : []),
    ...(secrets ?? []).map((name) => `secret ${name}`),
    ...(changes?.network_added ?? []).map((host) => `host ${host}`),
    ...(changes?.new_install_scripts ?? []).map((name) => `install script of ${name}`),
    ...(changes?.young_packages ?? []).map((name) => `young package ${name}`),
  ];
  const left = (files ?? 0) - 3;
  const names = changed.slice(0, 3).map(({ path, named }) => `${named ? '*' : ' '} ${path}`);
  return [
    ['since:', [`${version}${commits}${by}`, ...subjects.slice(1, 4).map((each) => `  ${each}`)]],
    ['changed:', more.length > 0 ? [more.join(', ')] : []],
    ['files:', left > 0 ? [...names, `  and ${left} more`] : names],
  ];
}

/** At most `max` lines that fit, wrapped at spaces where they have some; the middle is left out. */
function shortened(lines: readonly string[], max: number): string[] {
  const wrapped = lines.flatMap((line) => harmlessLine(line).match(WRAPPED) ?? []);
  const tail = Math.floor((max - 1) / 2);
  const kept =
    wrapped.length > max
      ? [...wrapped.slice(0, max - tail - 1), '…', ...wrapped.slice(-tail)]
      : wrapped;
  return kept.map((line) => fit(line.trimEnd(), WIDTH));
}
