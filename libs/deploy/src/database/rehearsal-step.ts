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
import { commandOf, type MigrationContext, stepFor } from './context.ts';
import { type RehearsalResult, rehearseSchema } from './rehearse.ts';
import { lookAtServer, type ServerWide, serverChanges } from './server-wide.ts';
import { requireSpace, sizeWords } from './space.ts';

/** Changes of a server that are named. */
const CHANGES_MAX = 5;

export const NOT_REHEARSED: RehearsalResult = {
  verdict: 'unknown',
  reasons: ['it was not rehearsed'],
  rewrites: [],
};

/** Throws a StepFailure if a rehearsal has changed more than the copy. */
async function refuseServerWide(address: DatabaseAddress, before: ServerWide | undefined) {
  const changes = before ? serverChanges(before, await lookAtServer(address)) : [];
  if (changes.length === 0) return;
  const what = harmlessLine(changes.slice(0, CHANGES_MAX).join(', '));
  throw new StepFailure(
    'migrate',
    `migrate: its rehearsal on a copy changed the server itself: ${what}; undo that, and change it by hand or set rehearse: false`,
  );
}

/** What the migration does to a copy, of the schema or of all. Throws a StepFailure if it fails there. */
export async function rehearse(context: MigrationContext): Promise<RehearsalResult> {
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
