/** The check of a state file when it is read. */
import { Failure } from '../foundation/failure.ts';
import { isObject } from '../text/json.ts';
import type { AppState } from './state.ts';

type StateFields = Record<string, unknown>;
/** What is read is completed in place. */
const isRecord = isObject as (value: unknown) => value is StateFields;

/** The required fields of a section; `name?` may be missing or null. */
type RequiredFields = readonly string[];
/** Fields that are whole numbers; all others are texts. */
const NUMBERS = ['count', 'pid', 'max', 'ttl', 'tries'];

const RAN: RequiredFields = ['version', 'commit'];
const DEPLOYED: RequiredFields = [...RAN, 'release', 'deployed_at', 'deploy_id'];
const LAST_FAILURE: RequiredFields = [...RAN, 'deploy_id', 'stage', 'error', 'at'];

const MIGRATION: RequiredFields = [...RAN, 'deploy_id', 'at', 'verdict'];
const BACKUP: RequiredFields = ['deploy_id', 'at', 'database', 'variable'];

/** The sections that may be missing or null. */
const SECTIONS: Readonly<Record<string, RequiredFields>> = {
  failures: ['commit', 'count', 'last_at', 'stage'],
  held: ['commit', 'since', 'reason'],
  last_failure: LAST_FAILURE,
  last_rollback_failure: LAST_FAILURE,
  attempts: ['commit', 'count', 'at'],
  deploying: ['deploy_id', 'pid', 'started', 'boot_id', 'commit', 'instance', 'stage'],
  check_failed: ['since', 'error', 'message'],
  paused: ['since', 'by', 'until?', 'reason?'],
  stopped: ['since', 'by', 'reason?'],
  traffic_hold: ['since', 'by', 'until'],
  deploy_file: ['text', 'since', 'by'],
  accepted: [...RAN, 'at'],
  previews: ['domain', 'max', 'ttl', 'since', 'by'],
  preview: ['of', 'key', 'branch', 'ref', 'commit', 'pushed_at', 'domain', 'tries'],
  watch: [...RAN, 'deploy_id', 'since', 'until', 'from'],
  migrating: [...RAN, 'deploy_id', 'database', 'at'],
  watched: ['deploy_id', 'version', 'since', 'at', 'verdict', 'reason'],
};
const BROKEN: RequiredFields = ['since', 'reason'];

/** Whether a value is an object with these fields. */
export function hasShape(value: unknown, shape: RequiredFields): value is StateFields {
  const isGood = (field: unknown, name: string) =>
    NUMBERS.includes(name)
      ? Number.isSafeInteger(field)
      : typeof field === 'string' || (name.endsWith('?') && (field ?? null) === null);
  return isRecord(value) && shape.every((name) => isGood(value[name.replace('?', '')], name));
}

/** Names of folders under `releases/`. */
const RELEASE = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Reads the text of the state file `path`. Throws `state_malformed` or `state_unsupported`. */
export function parseState(name: string, text: string, path: string): AppState {
  const bad = (why: string) => new Failure('state_malformed', `the state file ${path} ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad('is not JSON');
  }
  if (!isRecord(value)) throw bad('is not an object');
  if (value.version !== undefined && value.version !== 1 && value.version !== 2) {
    throw new Failure('state_unsupported', `the state file ${path} was written by a newer runner`);
  }
  if (typeof value.repo !== 'string') throw bad('has no text in repo');
  if (typeof value.branch !== 'string') throw bad('has no text in branch');
  if (value.host !== undefined && typeof value.host !== 'string')
    throw bad('has a host that is not a text');
  if (value.app !== undefined && value.app !== name) throw bad('names another app');
  checkFollowed(value, bad);
  const required = value.require_checks;
  if (required !== undefined && required !== 'all' && !isNames(required))
    throw bad('has no list of names in require_checks');
  if (!['head', 'strict', undefined].includes(value.require_signed as string | undefined))
    throw bad('has neither head nor strict in require_signed');
  if (!hasShape(value.package_age, ['commit', 'again'])) delete value.package_age;
  if (value.checks !== undefined && !isChecks(value.checks)) delete value.checks;
  const inner = value.state ?? {};
  if (!isRecord(inner)) throw bad('has no section state');
  const token = inner.repohost_token ?? null;
  if (token !== null && typeof token !== 'string') throw bad('has a token that is not a text');
  const instances = value.instances ?? {};
  if (!isRecord(instances)) throw bad('has no section instances');
  for (const instance of Object.values(instances)) checkInstance(instance, bad);
  value.version ??= 1;
  value.app = name;
  value.created_at = String(value.created_at ?? '');
  value.updated_at = String(value.updated_at ?? '');
  value.state = inner;
  value.instances = instances;
  for (const [field, shape] of Object.entries(SECTIONS)) checkSection(value[field], shape, bad);
  for (const field of ['failures', 'held', 'deploying']) value[field] ??= null;
  if (!hasGoodParts(value)) throw bad('has a malformed section');
  if (!isList(value.unusual, isSpan)) delete value.unusual;
  if (value.reported !== undefined && !isRecord(value.reported)) delete value.reported;
  if (!(isRecord(value.certificates) && Object.values(value.certificates).every(isCertificate)))
    delete value.certificates;
  if (typeof value.behind_since !== 'string') delete value.behind_since;
  value.last_checked = typeof value.last_checked === 'string' ? value.last_checked : null;
  return value as AppState;
}

/** Whether the sections that are there have good parts. */
function hasGoodParts(value: StateFields): boolean {
  const { watch, stopped, traffic_hold: hold, previews, restored } = value;
  const { migrations = [], database_backups: backups = [] } = value;
  const isMigration = (each: unknown) => hasShape(each, MIGRATION) && isTexts(each.reasons);
  const isBackup = (each: unknown) => hasShape(each, BACKUP) && Array.isArray(each.migrations);
  return (
    (!isRecord(watch) || isWatch(watch)) &&
    [stopped, hold].every((each) => !isRecord(each) || isTexts(each.instances)) &&
    (!isRecord(previews) || arePreviews(previews)) &&
    (restored === undefined || isRestored(restored)) &&
    isList(migrations, isMigration) &&
    isList(backups ?? [], isBackup)
  );
}

const isList = (value: unknown, isGood: (each: unknown) => boolean) =>
  Array.isArray(value) && value.every(isGood);

const isWatch = ({ instances, first = instances }: StateFields) =>
  isNames(instances) && isNames(first);

const arePreviews = ({ check_failed: failed, waiting = [] }: StateFields) =>
  isSection(failed, SECTIONS.check_failed) &&
  isList(waiting, (each) => hasShape(each ?? {}, ['key', 'why']));

const isCertificate = (value: unknown) => hasShape(value, ['ends?', 'at']);

const isSpan = (each: unknown) => isRecord(each) && isRecord(each.from) && isRecord(each.to);

function checkFollowed({ tags, paths }: StateFields, bad: (why: string) => Failure) {
  const isText = (each: unknown) => typeof each === 'string' && each !== '';
  if (paths !== undefined && !isList(paths, isText)) throw bad('has malformed paths');
  if (tags === undefined) return;
  const isRule =
    isRecord(tags) && isText(tags.pattern) && (tags.semver === null || isText(tags.semver));
  if (!isRule) throw bad('has malformed tags');
}

function isTexts(value: unknown): value is string[] {
  return isList(value, (each) => typeof each === 'string');
}

function isNames(value: unknown): boolean {
  return isTexts(value) && value.length > 0;
}

/** What the host said is asked again if it was damaged. */
function isChecks(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value.checks) && Array.isArray(value.pages);
}

function isRestored(value: unknown): boolean {
  const all =
    isRecord(value) && isRecord(value.instances) ? Object.values(value.instances) : [null];
  return all.every((ran) => hasShape(ran, RAN));
}

function checkInstance(instance: unknown, bad: (why: string) => Failure): void {
  const previous = isRecord(instance) ? (instance.previous ?? []) : undefined;
  if (!isRecord(instance) || !Array.isArray(previous)) throw bad('has a malformed instance');
  instance.previous = previous;
  instance.current ??= null;
  checkSection(instance.broken, BROKEN, bad);
  const { active_since: since, active_by: by, slots, draining, before_traffic: before } = instance;
  for (const value of [slots, draining])
    if (value !== undefined && value !== null && !isRecord(value))
      throw bad('has a malformed instance');
  for (const slot of Object.values(slots ?? {}))
    checkVersion(isRecord(slot) ? { ...slot, deployed_at: slot.started_at } : null, bad);
  const from = isRecord(draining) ? draining.from : undefined;
  for (const version of [before, from]) if (version !== undefined) checkVersion(version, bad);
  for (const text of [since, by])
    if (text !== undefined && typeof text !== 'string') throw bad('has a malformed instance');
  checkVersion(instance.current, bad);
  for (const version of previous) checkVersion(version ?? {}, bad);
}

function checkVersion(version: unknown, bad: (why: string) => Failure): void {
  if (version === null) return;
  const good = hasShape(version, DEPLOYED);
  // A release is the name of a folder; a path could lead anywhere.
  if (!good || !RELEASE.test(version.release as string)) throw bad('has a malformed instance');
  if (!isBrought(version.changes)) delete version.changes;
}

/** What a version brought is only shown. */
function isBrought(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { count, subjects, authors, network_added = [], young_packages = [] } = value;
  const { compare = '', new_install_scripts = [] } = value;
  return (
    (count === null || Number.isSafeInteger(count)) &&
    typeof compare === 'string' &&
    [subjects, authors, network_added, young_packages, new_install_scripts].every(isTexts)
  );
}

function checkSection(value: unknown, shape: RequiredFields, bad: (why: string) => Failure): void {
  if (!isSection(value, shape)) throw bad('has a malformed section');
}

/** Whether a section has these fields, if it is there. */
export const isSection = (value: unknown, shape: RequiredFields = []) =>
  value === undefined || value === null || hasShape(value, shape);
