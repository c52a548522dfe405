/** What a migration has at hand, and how its commands run. */
import type { MigrationRules } from '@runner/common/deploy-file/migrate';
import type { Target } from '../instances/drivers/driver.ts';
import { hookEnvironment } from '../instances/hooks.ts';
import type { Deploy, Operation } from '../journal/operation.ts';
import { type Blame, StepFailure, shellStep } from '../run/step.ts';
import { type DatabaseAddress, databaseAddress } from './address.ts';

/** What a migration has at hand. */
export interface MigrationContext {
  readonly op: Operation & Pick<Deploy, 'commit' | 'version'>;
  readonly target: Target;
  readonly rules: MigrationRules;
  readonly address: DatabaseAddress;
}

/** The database whose URL a variable of an instance has. Throws `config_invalid`, without the URL. */
export function addressOf({ env, release, confine }: Target, variable: string): DatabaseAddress {
  return databaseAddress(env[variable] ?? '', release, (copy) => confine('hook', undefined, copy));
}

/** What runs now in the instance whose release migrates. */
export const currentOf = ({ op, target }: Pick<MigrationContext, 'op' | 'target'>) =>
  op.app.instances[target.instance.name]?.current;

/** How the sessions of its commands are named on PostgreSQL, by what reads PGAPPNAME: libpq and most drivers. */
export const SESSION_NAME = 'runner-migrate';

/** A command of the section, as a hook runs. */
export function stepFor(
  { op, target, rules }: Pick<MigrationContext, 'op' | 'target' | 'rules'>,
  command: string,
  more: Record<string, string> = {},
  /** A further folder in which it may write. */
  copy?: string,
) {
  const folder = target.release;
  const own = { RUNNER_RELEASE: folder, PGAPPNAME: SESSION_NAME };
  const env = { ...target.env, ...hookEnvironment(op, target), ...own, ...more };
  const confinement = target.confine('hook', undefined, copy);
  const { timeout } = rules;
  return shellStep({ stage: 'migrate', command, cwd: folder, env, timeout, confinement });
}

/** Why it does not go on, in words after `migrate: `. */
export const refused = (words: string, blame: Blame = 'operator') =>
  new StepFailure('migrate', `migrate: ${words}`, { blame });

/** Whether a version of the app is active. */
export const hasVersion = ({ app }: Pick<Deploy, 'app'>) =>
  Object.values(app.instances).some(({ current }) => current);

/** At the first deploy of the app, until it has succeeded. */
export const isFirst = ({ op, rules }: MigrationContext) =>
  rules.first !== undefined && !hasVersion(op) && op.app.first_run === undefined;

/** What migrates: `first` at the first deploy. */
export function commandOf(context: MigrationContext): string {
  const { run, first = run } = context.rules;
  return isFirst(context) ? first : run;
}
