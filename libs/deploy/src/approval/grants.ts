/** Grants: what an agent may do, in `/etc/runner/grants`, which root alone can write. */
import { chmodSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandPlan } from '@runner/common/apps/plans';
import { takeLock } from '@runner/common/files/lock';
import { makeOpenFolder, namesIn, readIfThere, removeIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { unlessFailure } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Env, Io } from '@runner/common/foundation/io';
import { sshKey } from '@runner/common/signed/ssh-key';
import { jsonObject } from '@runner/common/text/json';
import { etcOf } from '../instances/setup-record.ts';

/** What an agent may do: look; make plans; and restart and start without an approval. */
export const GRANT_LEVELS = ['look', 'propose', 'operate'] as const;

export interface Grant {
  name: string;
  level: (typeof GRANT_LEVELS)[number];
  apps: string[];
  /** `ssh-ed25519 AAAA…`, which may log in to use it; null: none. */
  key: string | null;
  /** Whose agent it is: with `not_author`, their approval of its plans does not count. */
  user: string | null;
  /** Since when this key has it, whatever its level was. */
  since: string;
  by: string;
}

const FILE_MAX = 65_536;
/** Seconds. */
const LOCK_WAIT = 10;
const OTHERS = 0o022;
export const isGrantName = (text: string) => /^[a-z][a-z0-9-]{0,31}$/.test(text);
export const grantsFolder = (env: Env) => join(etcOf(env), 'runner/grants');
const pathOf = (env: Env, name: string) => join(grantsFolder(env), `${name}.json`);

/** Throws `grant_invalid` without one, and for a file that someone other than root could have written. */
export function readGrant(env: Env, name: string): Grant {
  const invalid = (why: string) =>
    new Failure('grant_invalid', `the grant '${name.slice(0, 32)}' ${why}`);
  const path = isGrantName(name) ? pathOf(env, name) : undefined;
  const bytes =
    path &&
    readIfThere(path, FILE_MAX, ({ uid, mode }) => {
      if (uid !== 0 || (mode & OTHERS) !== 0) throw invalid(`is not root's alone: ${path}`);
    });
  if (!bytes) throw invalid('does not exist: runner grant list');
  const grant = jsonObject(bytes.toString('utf8')) as Grant | undefined;
  const isGood =
    grant?.name === name &&
    GRANT_LEVELS.includes(grant.level) &&
    Array.isArray(grant.apps) &&
    [grant.since, grant.by, ...grant.apps].every((each) => typeof each === 'string');
  if (!isGood) throw invalid(`cannot be read: ${path}`);
  return grant;
}

/** All of them. Throws `grant_invalid` for one that cannot be read. */
export function listGrants(env: Env): Grant[] {
  const names = namesIn(grantsFolder(env)).filter((name) => name.endsWith('.json'));
  return names.map((name) => readGrant(env, name.slice(0, -5)));
}

/** Whether a grant is for an app; `look` makes no plans. Throws `grant_invalid`. */
export function requireProposer(env: Env, name: string, app: string): Grant {
  const grant = readGrant(env, name);
  if (grant.level !== 'look' && grant.apps.includes(app)) return grant;
  throw new Failure('grant_invalid', `the grant '${name}' may not plan anything for '${app}'`);
}

/** Whether a plan was made under this grant, not an earlier one of its name. */
export function isOfGrant(
  { name, since }: Grant,
  { grant, made }: Pick<CommandPlan, 'grant' | 'made'>,
): boolean {
  return grant === name && made >= since;
}

/** That the grant which made a plan is not there any more, in words; empty: it is, or none did. */
export function grantChange(env: Env, plan: Pick<CommandPlan, 'grant' | 'made'>): string[] {
  const { grant } = plan;
  if (grant === null) return [];
  const isThere = unlessFailure(() => isOfGrant(readGrant(env, grant), plan), false);
  return isThere ? [] : [`the grant ${grant} was removed, or has another key`];
}

/** Approvals that a plan of an agent needs at least. */
export function leastApprovals({ level }: Grant, verb: CommandPlan['verb']): number {
  return level === 'operate' && (verb === 'restart' || verb === 'start') ? 0 : 1;
}

/** Writes a grant, or removes one, and then the keys of all. Throws `grant_invalid`, `locked`. */
export function changeGrants(io: Io, name: string, grant: Grant | undefined): void {
  const folder = grantsFolder(io.env);
  makeOpenFolder(folder);
  // `runner mcp` reads it as another user.
  chmodSync(folder, 0o755);
  using lock = takeLock(join(folder, '.lock'), LOCK_WAIT);
  if (!lock) throw new Failure('locked', 'another runner grant does not end');
  write(io, name, grant);
}

function write(io: Io, name: string, grant: Grant | undefined): void {
  const path = pathOf(io.env, name);
  // sshd takes the first line with a key: the other grant would have no effect.
  const other = listGrants(io.env).find((each) => each.name !== name && each.key === grant?.key);
  if (other && grant?.key)
    throw new Failure('grant_invalid', `the key is that of the grant '${other.name}'`);
  if (grant) writeWhole(path, `${JSON.stringify(grant, null, 2)}\n`, 0o644);
  else removeIfThere(path);
  const program = join(dirname(io.program), 'runner-mcp');
  const lines = listGrants(io.env).flatMap(({ name: each, key }) =>
    key === null ? [] : [`restrict,command="${program} --grant ${each}" ${key} ${each}\n`],
  );
  const head =
    '# Written by runner grant from /etc/runner/grants: it replaces what is changed here.\n';
  writeWhole(join(etcOf(io.env), 'runner/agent_keys'), head + lines.join(''), 0o644);
}

/** `type base64` of a public key, without its comment. Throws `grant_invalid`. */
export function grantKey(text: string): string {
  const [type = '', base64 = ''] = text.trim().split(/\s+/);
  const isOne = text.trim().split('\n').length === 1;
  if (isOne && sshKey(type, Buffer.from(base64, 'base64'))) return `${type} ${base64}`;
  throw new Failure(
    'grant_invalid',
    'the key is not one public key of ssh-keygen, such as ssh-ed25519 AAAA…',
  );
}
