/** Access lists: a user may pass through a folder of runner, or read what is in it. */
import type { MadeThing } from '@runner/deploy/instances/setup-record';
import { type Argv, asOwner, ended, succeed } from '../app/programs.ts';
import type { Machine } from './machine.ts';
import type { ThingOf } from './thing.ts';

type AccessThing = ThingOf<'access'>;

/** The command that gives the right. New releases inherit `rX`. */
export function grantCommand({ path, user, rights }: AccessThing): Argv {
  if (rights === 'x') return ['setfacl', '-m', `u:${user}:x`, path];
  return ['setfacl', '-R', '-m', `u:${user}:rX,d:u:${user}:rX`, path];
}

export function isGranted({ server, env }: Machine, { path, user, rights }: AccessThing): boolean {
  const entries = listOf({ server, env }, path);
  const has = (begin: string, wanted: RegExp) =>
    entries.some((line) => line.startsWith(begin) && wanted.test(line.slice(begin.length)));
  if (rights === 'x') return has(`user:${user}:`, /^..x/);
  return has(`user:${user}:`, /^r.x/) && has(`default:user:${user}:`, /^r.x/);
}

function listOf({ server, env }: Pick<Machine, 'server' | 'env'>, ...paths: string[]): string[] {
  const args: Argv = ['getfacl', '--omit-header', '--absolute-names', ...paths];
  return ended(env, asOwner(server, args)).stdout.split('\n');
}

/** Gives the right. What the app itself wrote is its own already, and refuses a change by runner. */
export function makeAccess(machine: Machine, thing: AccessThing): void {
  const command = asOwner(machine.server, grantCommand(thing));
  if (ended(machine.env, command).status !== 0 && !isGranted(machine, thing))
    succeed(machine.env, command);
}

/** Takes the right away. Masks stay as they are: a new one could give a group more than it has. */
export function undoAccess(machine: Machine, { fields }: MadeThing): undefined {
  const { server, env } = machine;
  const { path = '', user = '', rights } = fields;
  if (listOf(machine, path).every((line) => line === '')) return undefined;
  const change = (...args: string[]): Argv => asOwner(server, ['setfacl', ...args, path]);
  if (rights === 'rX') {
    const isOther = (line: string) =>
      /^default:(?:user|group):[^:]/.test(line) && !line.startsWith(`default:user:${user}:`);
    const others = listOf(machine, '-R', path).some(isOther);
    ended(env, change('-R', ...(others ? ['-n', '-x', `d:u:${user}`] : ['-k'])));
    ended(env, change('-R', '-n', '-x', `u:${user}`));
  } else ended(env, change('-n', '-x', `u:${user}`));
  const named = listOf(machine, path).filter((line) => /^(?:user|group):[^:]/.test(line));
  if (named.some((line) => line.startsWith(`user:${user}:`)))
    succeed(env, change('-x', `u:${user}`));
  // Of a folder without other users only the mask is left.
  if (named.length === 0) ended(env, change('-b'));
  return undefined;
}
