/**
 * The schema as the last deploy left it, in `apps/<app>/schema.json`: what another server, or a person, has
 * changed since counts for the versions from before, too.
 */
import { readTextIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { jsonObject } from '@runner/common/text/json';
import type { Operation } from '../journal/operation.ts';
import type { DatabaseAddress } from './address.ts';
import { type SchemaFinding, type SchemaLook, sinceLook, worseOfTwo } from './schema.ts';

/** Bytes. */
const LOOK_MAX = 67_108_864;

interface LastLook extends SchemaLook {
  /** Fingerprint of the database. */
  readonly database: string;
}

/** Keeps how it is now. */
export function keepLook({ paths, app }: Operation, address: DatabaseAddress, look: SchemaLook) {
  if (!look.catalogue) {
    forgetLook({ paths, app });
    return;
  }
  // The app itself may have set a sequence back by then.
  const entries = look.catalogue.entries.filter(({ kind }) => kind !== 'counter');
  const kept: LastLook = { ...look, catalogue: { entries }, database: address.fingerprint };
  writeWhole(paths.app(app.app).schema, JSON.stringify(kept));
}

/** What follows is no one else's change. */
export function forgetLook({ paths, app }: Pick<Operation, 'paths' | 'app'>): void {
  removeIfThere(paths.app(app.app).schema);
}

/** undefined: it is not known. */
export function lastLook(
  { paths, app }: Operation,
  { fingerprint }: DatabaseAddress,
): SchemaLook | undefined {
  const text = readTextIfThere(paths.app(app.app).schema, LOOK_MAX);
  const last = jsonObject(text ?? '') as LastLook | undefined;
  return last?.database === fingerprint ? last : undefined;
}

/** What a migration has done, and what others have since the last deploy. */
export function withOthers(
  op: Operation,
  address: DatabaseAddress,
  before: SchemaLook,
  own: SchemaFinding,
): SchemaFinding {
  const last = lastLook(op, address);
  if (!last || !before.catalogue) return own;
  const others = sinceLook(last, before);
  if (others.isSame) return own;
  const isNoted = last.text === before.text;
  const verdict = isNoted ? ('unknown' as const) : others.verdict;
  const reasons = isNoted ? ['another server has run migrations'] : others.reasons;
  return {
    verdict: worseOfTwo(own.verdict, verdict),
    reasons: [...own.reasons, ...reasons.filter((words) => !own.reasons.includes(words))],
    isSame: false,
  };
}
