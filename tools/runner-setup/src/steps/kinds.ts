/** What can be done with each kind of thing: show it, look whether it is there, make it, undo it. */
import { statSync } from 'node:fs';
import { hashOf } from '@runner/common/audit/chain';
import { makeOpenFolder, namesIn } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { word } from '@runner/common/text/shell';
import { etcOf, type MadeThing } from '@runner/deploy/instances/setup-record';
import { type Argv, accountOf, asOwner, ended, succeed, typedAsOwner } from '../app/programs.ts';
import { grantCommand, isGranted, makeAccess, undoAccess } from './access.ts';
import {
  contentsAt,
  hasLine,
  makeFile,
  makeLine,
  standingOf,
  undoFile,
  undoLine,
} from './files.ts';
import { entryOf, type Machine, removeEmpty, saveRecord } from './machine.ts';
import type { ReloadThing, Thing, ThingOf } from './thing.ts';

interface ThingKind<T extends Thing> {
  /** What it does, without a full stop. */
  what(thing: T): string;
  /** How a person does the same; empty for files, which are shown. */
  commands(machine: Machine, thing: T): readonly Argv[];
  isThere(machine: Machine, thing: T): boolean;
  /** Must be able to run twice. Throws `setup_failed`. */
  make(machine: Machine, thing: T, entry: MadeThing): void;
  /** Why it stays, if it does. Must be able to run twice. */
  undo(machine: Machine, entry: MadeThing): string | undefined;
}

const unitState = ({ env }: Machine, unit: string) =>
  ended(env, ['systemctl', 'is-enabled', '--', unit]).stdout.trim();

const runAll = (machine: Machine, commands: readonly Argv[], timeout?: number) =>
  commands.forEach((each) => void succeed(machine.env, each, timeout));

/** systemd waits for a proxy that never says that it has read its configuration; in milliseconds. */
const RELOAD_LIMIT = 30_000;

const USERADD: Argv = ['useradd', '--system', '--no-create-home', '--shell', '/usr/sbin/nologin'];

const user: ThingKind<ThingOf<'user'>> = {
  what: ({ name }) => `create the user ${name}, without a login`,
  commands: (_, { name }) => [[...USERADD, name]],
  isThere: ({ env }, { name }) => accountOf(env, name).length > 0,
  make(machine, thing) {
    if (!this.isThere(machine, thing)) runAll(machine, this.commands(machine, thing));
  },
  undo({ env }, { fields: { name = '' } }) {
    if (accountOf(env, name).length > 0) succeed(env, ['userdel', name]);
    return undefined;
  },
};

const folder: ThingKind<ThingOf<'folder'>> = {
  what: ({ path }) => `create the folder ${path}`,
  commands: ({ server, env }, { path }) => [
    isInEtc(env, path) ? ['mkdir', '-p', path] : typedAsOwner(server, ['mkdir', '-p', path]),
  ],
  isThere: (_, { path }) => orElse(() => statSync(path).isDirectory(), false),
  make({ server, env }, { path }) {
    if (isInEtc(env, path)) makeOpenFolder(path);
    else succeed(env, asOwner(server, ['mkdir', '-p', path]));
  },
  undo({ server, env }, { fields: { path = '' } }) {
    if (isInEtc(env, path)) removeEmpty([path]);
    // What is in it stays.
    else ended(env, asOwner(server, ['rmdir', path]));
    return undefined;
  },
};

const isInEtc = (env: Machine['env'], path: string) => path.startsWith(`${etcOf(env)}/`);

const access: ThingKind<ThingOf<'access'>> = {
  what: ({ path, user: name, rights }) =>
    rights === 'x' ? `let ${name} pass through ${path}` : `let ${name} read ${path}`,
  commands: ({ server }, thing) => [typedAsOwner(server, grantCommand(thing))],
  isThere: isGranted,
  make: makeAccess,
  undo: undoAccess,
};

const file: ThingKind<ThingOf<'file'>> = {
  what: (thing) => ('to' in thing ? `link ${thing.path} to ${thing.to}` : `write ${thing.path}`),
  commands: (_, thing) => ('to' in thing ? [['ln', '-s', thing.to, thing.path]] : []),
  isThere: (machine, thing) => standingOf(machine, thing) === 'there',
  make: makeFile,
  undo: undoFile,
};

const line: ThingKind<ThingOf<'line'>> = {
  what: ({ path, line: text }) => `add the line ${text} to ${path}`,
  commands: (_, { path, line: text }) => [['sh', '-c', `echo ${word(text)} >>${word(path)}`]],
  isThere: hasLine,
  make: makeLine,
  undo: undoLine,
};

/** Starts a unit at boot or not, with `verb`; `back` undoes that. */
const boot = (
  [verb, back]: readonly ['enable', 'disable'] | readonly ['disable', 'enable'],
  what: (unit: string) => string,
  more: readonly string[] = [],
): ThingKind<ThingOf<'enabled' | 'disabled'>> => ({
  what: ({ unit }) => what(unit),
  commands: (_, { unit }) => [['systemctl', verb, ...more, unit]],
  isThere: (machine, { unit }) => (unitState(machine, unit) === 'enabled') === (verb === 'enable'),
  make: (machine, { unit }) => runAll(machine, [['systemctl', '--quiet', verb, ...more, unit]]),
  undo(machine, { fields: { unit = '' } }) {
    if (unitState(machine, unit) === `${verb}d`)
      succeed(machine.env, ['systemctl', '--quiet', back, unit]);
    return undefined;
  },
});
const enabled = boot(['enable', 'disable'], (unit) => `start ${unit} at boot`);
const disabled = boot(
  ['disable', 'enable'],
  (unit) => `stop ${unit}, which the app no longer uses, and do not start it at boot`,
  ['--now'],
);

const certificate: ThingKind<ThingOf<'certificate'>> = {
  what: ({ domain }) =>
    `get a certificate for ${domain} from Let's Encrypt, whose terms this accepts`,
  commands: (_, { run }) => [run],
  isThere: ({ env }, { domain }) =>
    orElse(() => statSync(liveCertificate(env, domain).cert).isFile(), false),
  make: ({ env }, { run: [program, ...args] }) =>
    void succeed(env, [program, ...args, '--non-interactive']),
  undo: (_, { fields: { domain } }) =>
    `certbot renews it: certbot delete --cert-name ${domain} removes it`,
};

/** Where certbot keeps the certificate of a domain. */
export function liveCertificate(
  env: Machine['env'],
  domain: string,
): { cert: string; key: string } {
  const live = `${etcOf(env)}/letsencrypt/live/${domain}`;
  return { cert: `${live}/fullchain.pem`, key: `${live}/privkey.pem` };
}

const reload: ThingKind<ReloadThing> = {
  what: ({ name, test }) =>
    test ? `check the configuration of ${name}, and reload it` : `reload ${name}`,
  commands: (_, { test, run }) => (test ? [test, ...run] : run),
  isThere: (machine, thing) => entryOf(machine, thing)?.hashes?.[0] === stateOfPaths(thing.paths),
  make(machine, thing, entry) {
    runAll(machine, this.commands(machine, thing), RELOAD_LIMIT);
    entry.hashes = [stateOfPaths(thing.paths)];
    saveRecord(machine);
  },
  undo({ env }, { fields: { back = '[]' } }) {
    for (const each of JSON.parse(back) as Argv[]) succeed(env, each, RELOAD_LIMIT);
    return undefined;
  },
};

/** Restarts a proxy that its last reload left hanging or ended, now that its files are as before. */
export function restartIfStuck({ env }: Machine, name: string): void {
  const state = ended(env, ['systemctl', 'is-active', '--', name]).stdout.trim();
  if (state === 'reloading' || state === 'failed')
    ended(env, ['systemctl', 'restart', name], '', RELOAD_LIMIT);
}

/** Changes with each of these files, and with what a folder lists. */
function stateOfPaths(paths: readonly string[]): string {
  return hashOf(paths.map((path) => contentsAt(path)?.toString('base64') ?? '-').join('\n'));
}

const KINDS = { user, folder, access, file, line, enabled, disabled, certificate, reload };

/** What can be done with a thing. Throws `state_malformed` for one of a newer version. */
export function kindOf(kind: string): ThingKind<Thing> {
  const found = (KINDS as unknown as Readonly<Record<string, ThingKind<Thing>>>)[kind];
  if (found) return found;
  throw new Failure('state_malformed', `a newer version of runner has made a ${kind}: use that`);
}

/** Processes of users that setup made: such a user cannot be removed. */
export function busyUsers({ env, record }: Machine): string[] {
  const names = record.made.flatMap(({ kind, fields }) =>
    kind === 'user' ? (fields.name ?? []) : [],
  );
  const owners = new Set(
    namesIn('/proc').map((pid) =>
      orElse(() => (/^\d+$/.test(pid) ? statSync(`/proc/${pid}`).uid : -1), -1),
    ),
  );
  return names.filter((name) => {
    const uid = Number(ended(env, ['id', '-u', '--', name]).stdout || Number.NaN);
    return owners.has(uid);
  });
}
