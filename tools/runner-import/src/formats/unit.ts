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
  const isOld = ({ value }: SourceEntry) =>
    old.startsWith('/') && String(value).includes(`${old}/`);
  for (const key of new Set(
    own.flatMap(({ path: [, name = ''] }) => (name.startsWith('Exec') ? name : [])),
  )) {
    const all = own.filter(({ path: [, name] }) => name === key);
    if (!all.some(isOld)) continue;
    lines.push(
      `${key}=`,
      ...all.map(({ value }) => `${key}=${String(value).replaceAll(`${old}/`, `${release}/`)}`),
    );
    for (const entry of all) plan.fates.set(entry, to(place));
  }
  plan.files.set(place, `[Service]\n${lines.join('\n')}\n`);
}
