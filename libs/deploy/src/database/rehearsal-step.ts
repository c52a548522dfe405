/** The rehearsal of a migration: its command runs on a copy of the database first. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationRules } from '@runner/common/deploy-file/migrate';
import { removeTree } from '@runner/common/files/tree-change';
import { harmlessLine } from '@runner/common/text/harmless';
import { keptTarget } from '../instances/target.ts';
import { say } from '../journal/operation.ts';
import { reported } from '../report/reporter.ts';
import { describeExit, succeeded } from '../run/child.ts';
import { StepFailure, tryStep } from '../run/step.ts';
import type { DatabaseAddress } from './address.ts';
import { commandOf, type MigrationContext, refused, stepFor } from './context.ts';
import { query } from './query.ts';
import { type RehearsalResult, rehearseSchema } from './rehearse.ts';
import { lookAtSchema, type SchemaLook } from './schema.ts';
import { requireSpace, sizeWords } from './space.ts';

const CHANGES_MAX = 5;

export const NOT_REHEARSED: RehearsalResult = {
  verdict: 'unknown',
  reasons: ['it was not rehearsed'],
};

/** Settings and roles of the whole server. Columns: what, and its value or a hash of it, which may be a secret. */
const SERVER_WIDE = {
  postgres: `
SELECT concat_ws(' ', 'the setting', split_part(setting, '=', 1), 'of role ' || nullif(setrole, 0)::regrole,
    'of database ' || datname), md5(setting)
  FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting LEFT JOIN pg_database d ON d.oid = setdatabase
  WHERE setdatabase = 0 OR datname = current_database()
UNION ALL SELECT 'the role ' || rolname, md5(concat_ws(' ', rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin,
    rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil)) FROM pg_roles
UNION ALL SELECT concat_ws(' ', 'that', member::regrole, 'is a member of', roleid::regrole), '' FROM pg_auth_members`,
  mysql: 'SHOW GLOBAL VARIABLES',
};
/** What servers of MySQL change on their own. */
const MOVING = /^(?:gtid|wsrep|rpl|timestamp|last_)/;

/** By what it is. Throws a Failure. */
async function lookAtServer(address: DatabaseAddress): Promise<ReadonlyMap<string, string>> {
  const { kind } = address;
  const rows = kind === 'sqlite' ? [] : await query(address, SERVER_WIDE[kind]);
  const named = rows.map(([what = '', value = '']) => [what, value] as const);
  if (kind === 'postgres') return new Map(named);
  const still = named.filter(([name]) => !MOVING.test(name));
  return new Map(still.map(([name, value]) => [`the variable ${name}`, value]));
}

/** Throws a StepFailure if a rehearsal has changed more than the copy. */
async function refuseServerWide(
  address: DatabaseAddress,
  before: ReadonlyMap<string, string> | undefined,
) {
  const after = before && (await lookAtServer(address));
  if (!before || !after) return;
  const all = [...new Set([...before.keys(), ...after.keys()])];
  const changes = all.filter((what) => before.get(what) !== after.get(what));
  if (changes.length === 0) return;
  const what = harmlessLine(changes.slice(0, CHANGES_MAX).join(', '));
  throw refused(
    `its rehearsal on a copy changed the server itself: ${what}; undo that, and change it by hand or set rehearse: false`,
    'commit',
  );
}

/** Throws a StepFailure if a rehearsal, of which no change of the copy is known, has changed the database itself. */
async function refuseElsewhere({ rules, address }: MigrationContext, before: SchemaLook) {
  const now = await lookAtSchema(address);
  // Of a database that cannot be read now, as it is busy, no one knows.
  if (!before.catalogue || !now.catalogue || now.text === before.text) return;
  throw refused(
    `the command does not use ${rules.database}: its rehearsal on a copy changed the database itself; make it use the variable, or set rehearse: false`,
    'commit',
  );
}

/**
 * What the migration does to a copy, of the schema or of all. Throws a StepFailure if it fails there, or changes
 * more than the copy; `before` is the schema of the database.
 */
export async function rehearse(
  context: MigrationContext,
  before: SchemaLook,
): Promise<RehearsalResult> {
  const { op, target, rules, address } = context;
  const what = rules.isFull ? 'full copy' : 'copy of the schema';
  const temporary = mkdtempSync(join(target.release, '.rehearsal-'));
  const onServer = await lookAtServer(address).catch(() => undefined);
  let failed: StepFailure | undefined;
  const run = async (url: string) => {
    const step = stepFor(context, commandOf(context), { [rules.database]: url });
    const { exit, output } = await tryStep(op.log, op.signal, { ...step, label: 'rehearsal' });
    const words = describeExit(exit, rules.timeout);
    const ended = { title: step.title, label: 'rehearsal', exit, part: op.log.parts.at(-1) };
    failed = new StepFailure(
      'migrate',
      `migrate: its rehearsal on a ${what} ${words}: it was not run on the database; if it is right and only the copy lacks something: ${rules.isFull ? '' : 'rehearse: full, or '}rehearse: false`,
      { output, ended },
    );
    return { ok: succeeded(exit), words };
  };
  try {
    const { isFull, timeout } = rules;
    const { size, words } = isFull ? await sizeWords(op.app, address) : { size: 0, words: '' };
    if (address.kind === 'sqlite') requireSpace(temporary, size);
    if (isFull) say(op, `a full copy of the database: ${words}`);
    const about = { address, temporary, run, signal: op.signal, ...trialOf(context, temporary) };
    const rehearsed = async () => {
      const result = await rehearseSchema({ ...about, ...(isFull && { full: { timeout } }) });
      await refuseServerWide(address, onServer);
      // Otherwise the command has not run.
      if (failed && result.isSameSchema !== false) await refuseElsewhere(context, before);
      if (failed && result.hasFailed) throw failed;
      return result;
    };
    const { reporter } = op;
    return await reported(reporter, `rehearse on a ${what}`, rehearsed, ({ skipped }) => skipped);
  } finally {
    removeTree(temporary);
  }
}

/** How the version that runs now is tried on a copy: by its own command, in its own folder. */
function trialOf({ op, target, rules }: MigrationContext, copy: string) {
  const { name } = target.instance;
  const current = op.app.instances[name]?.current;
  const old = current && keptTarget(op, name, current);
  const command = old?.file.migrate?.check;
  if (!old || command === undefined) return {};
  const { database } = old.file.migrate as MigrationRules;
  const check = async (url: string) => {
    const step = stepFor({ op, target: old, rules }, command, { [database]: url }, copy);
    const { exit } = await tryStep(op.log, op.signal, { ...step, label: 'check' });
    const words = `the check of ${current.version} fails on the migrated copy: \`${command}\` ${describeExit(exit, rules.timeout)}`;
    return { ok: succeeded(exit), words };
  };
  return { check };
}
