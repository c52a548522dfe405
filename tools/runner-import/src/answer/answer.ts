/** From a file of another tool to what runner needs: nothing of the file is without a place or a reason. */
import { basename } from 'node:path';
import { deployFileText } from '@runner/common/deploy-file/write';
import { failureIn } from '@runner/common/foundation/attempt';
import type { Failure } from '@runner/common/foundation/failure';
import { isAppName } from '@runner/common/foundation/names';
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';
import { FORMATS, type FormatName } from '../formats/all.ts';
import { keyOf, type SourceEntry, sourceName } from '../plan/entry.ts';
import { type ImportedSetting, left, Plan } from '../plan/plan.ts';
import { hidesSecret, withoutSecrets } from '../plan/secret.ts';
import { ruleFor } from '../plan/table.ts';

export type ImportAnswer = Awaited<ReturnType<typeof importText>>;

/** What is imported, and for which server. */
export interface ImportSource {
  readonly format: FormatName;
  readonly text: string;
  /** As it was named; `-` is standard input. */
  readonly file: string;
  /** The app's name, if the caller gives one. */
  readonly app?: string | undefined;
  readonly root: string;
  /** The time zone of the server's cron [default: UTC]. */
  readonly zone?: string;
}

/** Parts that the printed file has in this order. */
const ORDER = 'instances build start health traffic keep shared hooks jobs'.split(' ');
const KEY_MAX = 120;
/** In the place of a name that neither the source nor the caller gives. */
const UNNAMED = 'APP';

/** Throws `not_imported` for a text that is not of the format. */
export async function importText({ format, text, file, app, root, zone = 'UTC' }: ImportSource) {
  const name = shown(basename(sourceName(file)));
  const { read, nameOf, table, finish, unknown } = FORMATS[format];
  const entries = read(text, file);
  const plan = new Plan(app ?? appNamed(nameOf?.(entries, file)), root, zone);
  for (const entry of entries)
    plan.fates.set(entry, ruleFor(table, entry.path)?.(entry, plan) ?? left(unknown));
  await finish?.(plan, entries, file, text);
  firstSteps(plan);
  if (plan.app === UNNAMED && [...plan.commands, ...plan.files.values()].some(namesNone))
    plan.notes.add(`${UNNAMED} stands for the name of the app: give it with --app`);
  const deployFile = writeUp(plan, name);
  const fates = entries.map((entry) => ({
    key: shown(entry.key),
    line: entry.line,
    ...(plan.fates.get(entry) ?? left(unknown)),
  }));
  return {
    app: plan.app,
    file: withoutSecrets(sourceName(file)),
    settings: proposed(plan, name).map(({ path, ...rest }) => ({ key: keyOf(path), ...rest })),
    /** The text of `.deploy.yml`; null if there is no setting. */
    deploy_file: deployFile,
    commands: [...plan.commands].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a))),
    files: [...plan.files].map(([path, content]) => ({ path, text: content })),
    /** Sentences about what the files and commands do not show. */
    notes: [...plan.notes],
    mapped: fates.flatMap((fate) => ('to' in fate ? fate : [])),
    left: fates.flatMap((fate) => ('reason' in fate ? fate : [])),
  };
}

/** What a release needs that a tool knows from elsewhere: its repository, how it is built and started. */
function firstSteps(plan: Plan): void {
  const isNamed = [...plan.commands].some(isFirst);
  if (!isNamed && [...plan.settings.values()].every(({ path: [top] }) => top === 'jobs')) return;
  if (!isNamed) plan.add(undefined);
  if (plan.settings.get('start.type')?.value === 'compose') return;
  if (!plan.has('build.run'))
    plan.notes.add('nothing in the file installs or builds the app: add build, such as npm ci');
  if (!plan.has('start.type'))
    plan.notes.add('nothing in the file starts the app: add start and health');
}

/** Every other command needs the app. */
const isFirst = (command: string) => command.startsWith('runner add ');

/** A text of the source on one line, harmless, short and without secrets. */
function shown(text: string): string {
  return cutCodePoints(harmlessLine(withoutSecrets(text)), KEY_MAX);
}

const namesNone = (text: string) => new RegExp(`\\b${UNNAMED}\\b`).test(text);

/** The name that the source gives the app, made one that runner takes. */
function appNamed(given: unknown): string {
  if (typeof given !== 'string' || hidesSecret(given)) return UNNAMED;
  const name = given
    .trim()
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '')
    .slice(0, 63);
  return isAppName(name) ? name : UNNAMED;
}

/** The settings in their order, each with its reason. */
function proposed({ settings }: Plan, file: string) {
  const rank = ({ path: [top = ''] }: ImportedSetting) => ORDER.indexOf(top);
  return [...settings.values()]
    .sort((a, b) => rank(a) - rank(b))
    .map(({ path, value, reason, from }) => ({
      path,
      value,
      reason: reason ?? placeOf(from, file),
    }));
}

function placeOf(from: readonly SourceEntry[], file: string): string {
  const [first] = from;
  return first ? `${file}:${first.line}: ${shown(first.key)}` : '';
}

/** The text of `.deploy.yml`. A setting that runner would refuse is taken out, and its entries are left. */
function writeUp(plan: Plan, file: string): string | null {
  for (;;) {
    if (plan.settings.size === 0) return null;
    let text = '';
    const failure = failureIn(() => {
      text = deployFileText(proposed(plan, file), [`Made by runner import from ${file}`]);
    });
    if (!failure) return text;
    takeOut(plan, failure);
  }
}

function takeOut(plan: Plan, failure: Failure): void {
  const { key } = failure.facts;
  // A job without one of its settings would be another.
  const wrong =
    typeof key === 'string' && key !== '' ? key.replace(/^(jobs\.[^.]+)\..*/, '$1') : undefined;
  const isBelow = (a: string, b: string) =>
    a === b || a.startsWith(`${b}.`) || a.startsWith(`${b}[`);
  const out = [...plan.settings].filter(
    ([name]) => wrong !== undefined && (isBelow(name, wrong) || isBelow(wrong, name)),
  );
  if (out.length === 0) throw failure;
  for (const [name, { from }] of out) {
    plan.settings.delete(name);
    for (const entry of from)
      plan.fates.set(entry, left(`is not a value that runner takes for ${name}`));
  }
}
