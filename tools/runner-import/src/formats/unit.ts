/** A service of systemd: systemd keeps running it, in the active release. */
import { basename } from 'node:path';
import { word } from '@runner/common/text/shell';
import type { SourceEntry } from '../plan/entry.ts';
import { left, type Plan, refusalOf, to } from '../plan/plan.ts';
import { isSecret } from '../plan/secret.ts';
import { type ImportRule, none, type SourceFormat, stays } from '../plan/table.ts';
import { unitEntries } from '../read/lines.ts';
import { listening } from './place.ts';

const KEPT = stays('start.unit');
const ONCE = 'runs once and ends: let a timer run it in the release, with runner exec';
const NOTHING = 'the unit starts nothing: it has no ExecStart';

const variable: ImportRule = ({ path, value }, plan) => {
  const name = path[2] as string;
  return isSecret(name, String(value)) ? plan.secretInFile(name) : to('start.unit');
};
const variables: ImportRule = (entry, plan) => {
  const path = String(entry.value).replace(/^-/, '');
  if (!/\/\.env[\w.-]*$/.test(path)) return to('start.unit');
  return refusalOf(entry) ?? plan.command(`runner env import ${plan.app} --file ${word(path)}`);
};
const command: ImportRule = (entry) => refusalOf(entry) ?? to('start.unit');

export const unit: SourceFormat = {
  read: unitEntries,
  nameOf: (_, file) =>
    /\.service$/.test(file) ? basename(file, '.service').replace(/@.*$/, '') : undefined,
  table: [
    ['Service.Environment.*', variable],
    ['Service.EnvironmentFile', variables],
    ['Service.*', command],
    ['Unit.* Install.*', KEPT],
    ['line', none('is not Key=value in a section')],
  ],
  finish: whole,
  unknown: 'is not in a section of a service',
};

function whole(plan: Plan, entries: readonly SourceEntry[], file: string): void {
  const service = (key: string) =>
    entries.filter(({ path }) => path[0] === 'Service' && path[1] === key);
  const isOnce = service('Type').some(({ value }) => value === 'oneshot');
  if (isOnce || service('ExecStart').length === 0) {
    plan.commands.clear();
    for (const entry of entries) plan.fates.set(entry, left(isOnce ? ONCE : NOTHING));
    return;
  }
  const isUsers =
    file.includes('/systemd/user/') ||
    entries.some(({ path, value }) => path[1] === 'WantedBy' && value === 'default.target');
  const name = /\.service$/.test(file) ? basename(file) : `${plan.app}.service`;
  plan.derive('start.type', 'systemd', 'systemd keeps running it, and restarts it after a crash');
  plan.derive('start.unit', name, 'runner restarts it for each release');
  if (isUsers) plan.derive('start.user', true, "the user's own systemd runs it");
  const [port] = service('Environment').filter(({ path }) => path[2] === 'PORT');
  const address = port && listening(port.value);
  if (address) plan.derive('health.tcp', address, 'PORT; better is a url that answers 200');
  intoRelease(
    plan,
    entries,
    isUsers ? `~/.config/systemd/user/${name}` : `/etc/systemd/system/${name}`,
  );
  plan.noteSecrets(
    name,
    `it needs the line EnvironmentFile= that runner deploy ${plan.app} --check prints; a unit made by runner setup has it`,
  );
  if (!isUsers) plan.command(`echo ${word(name)} | sudo tee --append /etc/runner/units`);
  plan.command(isUsers ? 'systemctl --user daemon-reload' : 'sudo systemctl daemon-reload');
}

/** An absolute path in a command or a list. */
const PATH = /(?<![\w.~-])\/[^\s"'=:,;]*/g;
/** What an app writes, where others look for it: a release is not to be written to. */
const WRITTEN = /\.(?:sock|socket|pid|log)$|\/logs?\//;
/** A path of an app, not of the system or of what manages versions. */
const OUTSIDE =
  /(?<![\w.~-])\/(?!(?:usr|bin|sbin|lib|etc|run|var|proc|dev|tmp|snap|nix)\/)[\w@+-]+\/(?!\S*\/(?:\.|(?:python|php|ruby|java|node|npm|npx|pnpm|yarn|bun|deno|dotnet|bundle)[\d.]*(?:\s|$)))[^\s"']/;
/** A script in a virtual environment names its first folder, which a build has renamed. */
const SCRIPT = /^(\S*\/\.?v?env\w*\/bin\/)(gunicorn|uvicorn|celery|daphne|hypercorn|flask)(?=\s)/;

/** What the unit needs to run in the active release instead of its old folder, as a drop-in. */
function intoRelease(plan: Plan, entries: readonly SourceEntry[], path: string): void {
  const place = `${path}.d/runner.conf`;
  const release = `${plan.home}/instances/default/current`;
  const own = entries.filter((entry) => entry.path[0] === 'Service' && !refusalOf(entry));
  const [folder] = own.filter(({ path: [, key] }) => key === 'WorkingDirectory');
  const old = String(folder?.value ?? '')
    .replace(/^[-~]/, '')
    .replace(/\/+$/, '');
  const lines = [`WorkingDirectory=${release}`];
  if (folder) plan.fates.set(folder, to(place));
  const moved = ({ value }: SourceEntry) =>
    String(value).replace(PATH, (each) =>
      old !== '' && each.startsWith(`${old}/`) && !WRITTEN.test(each)
        ? `${release}${each.slice(old.length)}`
        : each,
    );
  for (const entry of own.filter(({ path: [, key] }) => key === 'Environment')) {
    if (moved(entry) === entry.value || !/^[\w./:@,=+-]+$/.test(moved(entry))) continue;
    lines.push(`Environment=${entry.path[2]}=${moved(entry)}`);
    plan.fates.set(entry, to(place));
  }
  for (const key of new Set(
    own.flatMap(({ path: [, name = ''] }) => (name.startsWith('Exec') ? name : [])),
  )) {
    const all = own.filter(({ path: [, name] }) => name === key);
    if (!all.some((entry) => moved(entry) !== entry.value)) {
      for (const entry of key === 'ExecStart' ? all : [])
        if (OUTSIDE.test(String(entry.value)))
          plan.fates.set(entry, left(`runs what is not in the release: name it below ${release}`));
      continue;
    }
    lines.push(
      `${key}=`,
      ...all.map((entry) => `${key}=${moved(entry).replace(SCRIPT, '$1python -m $2')}`),
    );
    for (const entry of all) plan.fates.set(entry, to(place));
  }
  plan.files.set(place, `[Service]\n${lines.join('\n')}\n`);
}
