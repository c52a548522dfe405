/**
 * The schema as the last deploy left it, in `apps/<app>/schema.json`: what another server, or a person, has
 * changed since counts for the versions from before, too; not what another app of this server has: that is
 * recorded with it.
 */
import { allNames, listApps } from '@runner/common/apps/store';
import { readTextIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { jsonObject } from '@runner/common/text/json';
import type { Operation } from '../journal/operation.ts';
import type { DatabaseAddress } from './address.ts';
import { currentOf, type MigrationContext } from './context.ts';
import type { MigrationNote, NotedResult } from './note.ts';
import { type SchemaFinding, type SchemaLook, sinceLook, worseOfTwo } from './schema.ts';

/** Bytes. */
const LOOK_MAX = 67_108_864;

interface LastLook extends SchemaLook {
  readonly database: string;
  /** In ISO 8601. */
  readonly at: string;
}

/** Keeps how it is now. */
export function keepLook(
  { io, paths, app }: Operation,
  address: DatabaseAddress,
  look: SchemaLook,
) {
  if (!look.catalogue) {
    forgetLook({ paths, app });
    return;
  }
  // The app itself may have set a sequence back by then.
  const entries = look.catalogue.entries.filter(({ kind }) => kind !== 'counter');
  const own = { database: address.fingerprint, at: io.now().toISOString() };
  const kept: LastLook = { ...look, catalogue: { entries }, ...own };
  writeWhole(paths.app(app.app).schema, JSON.stringify(kept));
}

/** What follows is no one else's change. */
export function forgetLook({ paths, app }: Pick<Operation, 'paths' | 'app'>): void {
  removeIfThere(paths.app(app.app).schema);
}

/** The newest that an app of this server has kept; undefined: it is not known. */
export function lastLook(
  { paths }: Operation,
  { aliases }: DatabaseAddress,
): SchemaLook | undefined {
  const isIts = ({ database = '' }: { database?: string }) => aliases.includes(database);
  const users = listApps(paths, allNames(paths)).apps.filter(isIts);
  const looks = users.flatMap(({ app }) => {
    const text = readTextIfThere(paths.app(app).schema, LOOK_MAX);
    const look = jsonObject(text ?? '') as LastLook | undefined;
    return look && isIts(look) ? [look] : [];
  });
  return looks.sort((a, b) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1)).at(-1);
}

/**
 * What a migration has done, and what others have since the last deploy: the servers that noted theirs in the
 * database, and, as far as the schema shows it, anyone else.
 */
export function withOthers(
  context: MigrationContext,
  before: SchemaLook,
  own: SchemaFinding,
  note: MigrationNote,
): SchemaFinding {
  const { op, address } = context;
  const last = lastLook(op, address);
  const others = last && before.catalogue ? sinceLook(last, before) : SAME;
  const noted = resultsSince(op, address, note);
  if (others.isSame && noted.length === 0) return own;
  // Its tool noted a migration, but no server what became of it.
  const isUnknown = noted.length === 0 && last?.notes !== before.notes;
  const seen = worseOfTwo(own.verdict, others.verdict);
  const found = noted.map((each) => each.verdict).reduce(worseOfTwo, isUnknown ? 'unknown' : seen);
  const verdict = worseOfTwo(seen, found);
  const current = currentOf(context)?.commit;
  const reasons = [
    ...others.reasons,
    ...(isUnknown ? ['another server has run migrations'] : []),
    ...(verdict === seen
      ? []
      : noted
          .filter((each) => each.verdict === verdict)
          .map(({ server }) => `${server} has recorded why`)),
  ];
  return {
    verdict,
    reasons: [...new Set([...own.reasons, ...reasons])],
    isSame: false,
    isProven:
      own.isSame &&
      seen !== 'broken' &&
      noted.length > 0 &&
      noted.every(({ tried }) => tried && tried === current),
  };
}

const SAME: SchemaFinding = { verdict: 'additive', reasons: [], isSame: true };

/** Those of other servers that the app has not seen yet: what apps of this one have done is recorded with them. */
function resultsSince(
  { paths, app }: Operation,
  { aliases }: DatabaseAddress,
  { results }: MigrationNote,
): readonly NotedResult[] {
  if (!aliases.includes(app.database ?? '')) return [];
  const own = listApps(paths, allNames(paths)).apps.flatMap(({ migrations = [] }) =>
    migrations.map(({ deploy_id }) => deploy_id),
  );
  return results
    .slice(results.findIndex((each) => each.deploy_id === app.database_seen) + 1)
    .filter(({ deploy_id }) => !own.includes(deploy_id));
}
