/** Checks across records that the events of each deploy are consistent. */
import {
  instancesOf,
  isForeign,
  kindOf,
  type LogRecord,
  projectOf,
  textOf,
} from '@runner/common/audit/record';
import { type LinePosition, type ReportProblem, short } from './problems.ts';

interface LoggedDeploy {
  readonly app: string;
  readonly place: LinePosition;
  /** Names of instances; since 0.1.0 one record covers all instances. */
  readonly started: Set<string>;
  readonly ended: Set<string>;
  readonly rolledBack: Set<string>;
  failed: boolean;
}

/**
 * The events of a deploy are close together, so a finished deploy is dropped after this many others.
 * This is soon enough that it never reaches the old generation of the heap, which a large log would fill.
 */
const REMEMBERED = 100;

/** Call `check` for each record in order, then `unfinished`. */
export class DeployCheck {
  readonly #report: ReportProblem;
  readonly #rotated: boolean;
  /** Deploys that have started and not ended, by ID. */
  readonly #open = new Map<string, LoggedDeploy>();
  /** Finished deploys, in two generations; the older one is dropped as a whole. */
  #recent = new Map<string, LoggedDeploy>();
  #older = new Map<string, LoggedDeploy>();
  /** App → ID of its newest start. */
  readonly #newest = new Map<string, string>();
  /** Deploys that have a start or an end in the log. */
  count = 0;
  /** Ends whose start was rotated away. */
  rotatedAway = 0;

  /** `rotated`: there is more than one file, so that an older one may have been removed. */
  constructor(rotated: boolean, report: ReportProblem) {
    this.#rotated = rotated;
    this.#report = report;
  }

  check(record: LogRecord, place: LinePosition): void {
    // Kept in memory, so bounded.
    const own = short(textOf(record, 'deploy_id'));
    const kind = kindOf(record);
    // Old versions wrote no ID.
    if (own === '') return;
    // Another tool may give its deploy the ID of one of runner's.
    const id = isForeign(record) ? `${own} of ${short(textOf(record, 'source'))}` : own;
    if (kind === 'DeployStarted') this.#start(id, record, place);
    // A check that failed has no deploy.
    else if (kind === 'DeployFailure' && record.stage === 'fetch') return;
    else if (kind === 'DeploySuccess' || kind === 'DeployFailure') this.#end(id, record, place);
    else if (kind === 'RollbackSuccess') this.#rollback(id, record, place);
  }

  /** Reports deploys without an end, except running ones; returns the number of those. */
  unfinished(running: ReadonlySet<string>, newestRun: boolean): number {
    const expected = new Set([...running, ...(newestRun ? this.#newest.values() : [])]);
    let count = 0;
    for (const [id, { place }] of this.#open) {
      if (expected.has(id)) count += 1;
      else this.#report('no_end', `deploy ${id} started but has no end`, place);
    }
    return count;
  }

  #start(id: string, record: LogRecord, place: LinePosition): void {
    const deploy = this.#deploy(id, record, place);
    if (!isForeign(record)) this.#newest.set(appOf(record), id);
    const names = namesOf(record);
    if (names.some((name) => deploy.started.has(name)))
      this.#twice(`deploy ${id} has a second DeployStarted`, record, place);
    else if (deploy.ended.size === 0) {
      if (deploy.started.size === 0) this.count += 1;
      if (!isForeign(record)) this.#open.set(id, deploy);
    }
    for (const name of names) deploy.started.add(name);
  }

  #end(id: string, record: LogRecord, place: LinePosition): void {
    const deploy = this.#deploy(id, record, place);
    const { started, ended } = deploy;
    const isFirst = ended.size === 0;
    if (isFirst && started.size === 0) this.count += 1;
    const names = namesOf(record);
    const isSecond = names.some((name) => ended.has(name));
    // Since 0.1.0 one record ends all instances and may name only the failed one.
    const isWhole = !Array.isArray(record.instances);
    for (const name of isWhole ? [...names, ...started] : names) ended.add(name);
    deploy.failed ||= kindOf(record) === 'DeployFailure';
    if ([...started].every((name) => ended.has(name)) && this.#open.delete(id))
      this.#remember(id, deploy);
    // A version that died later, while the one before it drained.
    const isLater = record.stage === 'drain' && kindOf(record) === 'DeployFailure';
    if (isSecond && !isLater) this.#twice(`deploy ${id} has a second end`, record, place);
    else if (isForeign(record)) return;
    else if (started.size === 0) {
      // A failed manual rollback is not the end of a deploy.
      if (isFirst && record.from_version === undefined) this.#unstarted(id, deploy, record, place);
    } else if (!isWhole && !names.every((name) => started.has(name)))
      this.#report('no_start', `deploy ${id} of ${names} ended but has no DeployStarted`, place);
  }

  #unstarted(id: string, deploy: LoggedDeploy, record: LogRecord, place: LinePosition): void {
    if (deploy.rolledBack.size > 0 && record.late !== true)
      this.#report('event_order', `deploy ${id} ended after it was rolled back`, place);
    if (this.#rotated && place.file === 0 && !this.#newest.has(appOf(record)))
      this.rotatedAway += 1;
    else this.#report('no_start', `deploy ${id} ended but has no DeployStarted`, place);
  }

  /** One record per instance. A manual rollback has its own ID. */
  #rollback(id: string, record: LogRecord, place: LinePosition): void {
    const deploy = this.#deploy(id, record, place);
    const isInOrder = deploy.started.size === 0 || deploy.failed;
    if (!isInOrder && record.late !== true && !isForeign(record))
      this.#report('event_order', `deploy ${id} was rolled back before it failed`, place);
    const instance = short(textOf(record, 'instance') || 'default');
    if (deploy.rolledBack.has(instance))
      this.#twice(`deploy ${id} has a second RollbackSuccess of ${instance}`, record, place);
    else deploy.rolledBack.add(instance);
  }

  /** Another tool may send its records again. */
  #twice(message: string, record: LogRecord, place: LinePosition): void {
    if (!isForeign(record)) this.#report('duplicate_id', message, place);
  }

  /** The known deploy with this ID, or a new one. */
  #deploy(id: string, record: LogRecord, place: LinePosition): LoggedDeploy {
    const app = appOf(record);
    const known = this.#open.get(id) ?? this.#recent.get(id) ?? this.#older.get(id);
    if (known === undefined) {
      const [started, ended] = [new Set<string>(), new Set<string>()];
      const deploy = { app, place, started, ended, failed: false, rolledBack: new Set<string>() };
      if (isForeign(record) || kindOf(record) !== 'DeployStarted') this.#remember(id, deploy);
      return deploy;
    }
    if (known.app !== app)
      this.#report('other_app', `deploy ${id} belongs to another app in an earlier record`, place);
    return known;
  }

  #remember(id: string, deploy: LoggedDeploy): void {
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(id, deploy);
  }
}

/** The instances that a record starts or ends. */
function namesOf(record: LogRecord): string[] {
  const names = Array.isArray(record.instances)
    ? [textOf(record, 'instance')]
    : instancesOf(record);
  return names.map(short);
}

function appOf(record: LogRecord): string {
  return short(String(projectOf(record)));
}
