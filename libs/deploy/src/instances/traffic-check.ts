/** What would keep a deploy with `traffic` from working, and what to know of it, for `runner deploy --check`. */
import { liveSlot, otherSlot } from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Env } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { readYaml } from '@runner/common/yaml/read';
import type { Tree } from '@runner/common/yaml/schema';
import { stepEnvironment } from '../run/environment.ts';
import { availableMemory } from '../run/memory.ts';
import { askUnit, unitsOf } from './drivers/unit-state.ts';
import { portOf, startsBeside } from './place.ts';
import { unreached } from './proxies.ts';
import { haproxyNote, portHolder, socketProblem } from './reach.ts';
import { activeFile } from './target.ts';

/** A sentence for each problem, with the command that changes it if there is one. */
export function trafficProblems(paths: Paths, app: string, file: DeployFile, env: Env): string[] {
  const found = file.instances.flatMap((instance) => {
    const { name, traffic } = instance;
    if (!traffic) return healthProblem(file, instance);
    const own = paths.app(app).instance(name);
    const tooLong = socketProblem(own, traffic, file);
    return [
      ...(tooLong === undefined ? [] : [`traffic: ${tooLong}`]),
      ...healthProblem(file, instance),
      ...unitProblems(file, instance, env),
      ...busyPort(paths, app, instance),
      ...unreached(own, traffic).map(({ words, fix }) => `traffic: ${words}: ${fix}`),
    ];
  });
  return [...new Set(found)];
}

/** Health has to ask what is being started: a slot by its socket or port, anything else not by a socket. */
function healthProblem(
  { health, instances }: DeployFile,
  { name, traffic, env }: Instance,
): string[] {
  if (!health || health.kind === 'cmd') return [];
  const usesPort = /\$(?:\{PORT\}|PORT\b)/.test(health.target);
  const usesSocket = health.kind === 'url' && /^http:\/\/unix(?:[/?]|$)/.test(health.target);
  const isSocket = traffic?.type === 'socket';
  // Without traffic PORT may name a socket of the app's own.
  const isAnswered = !usesSocket || env.PORT?.startsWith('/');
  if (isSocket ? usesSocket : traffic ? usesPort : isAnswered) return [];
  const isMixed = instances.some((each) => (each.traffic?.type === 'socket') !== isSocket);
  const use = isMixed ? 'health.cmd' : isSocket ? 'http://unix/…' : '${PORT}';
  return [
    `health.${health.kind} does not reach the version of ${name} that is started: use ${use}`,
  ];
}

/** The slot that the next version gets is empty: what listens on its port belongs to someone else. */
export function busyPort(paths: Paths, app: string, { name, traffic }: Instance): string[] {
  const live = liveSlot(paths.app(app).instance(name));
  if (!traffic?.overlap || live === undefined) return [];
  const next = otherSlot(live);
  const port = portOf(traffic, next);
  const isEmpty = !findApp(paths, app)?.instances[name]?.slots?.[next];
  const holder = port !== undefined && isEmpty ? portHolder(port) : undefined;
  if (holder === undefined) return [];
  return [`traffic: port ${port} of ${name} is taken by ${holder}: ss -ltnp 'sport = :${port}'`];
}

/** A template has to find the release and PORT of the slot that it is started for. */
function unitProblems({ start }: DeployFile, instance: Instance, env: Env): string[] {
  const [unit] = start.type === 'systemd' ? unitsOf(start.unit, instance) : [];
  if (start.type !== 'systemd' || unit === undefined) return [];
  const { status, stdout } = askUnit(start, unit, stepEnvironment(env), 'cat');
  if (status !== 0) return [];
  const missing = ['WorkingDirectory', 'EnvironmentFile']
    .filter((key) => !new RegExp(`^${key}=.*%[iI]`, 'm').test(stdout))
    .map((key) => `${key} with %I`);
  // With a stricter one the proxy may not write to the socket of another user.
  const umask = /^UMask=0*([0-7]*)$/m.exec(stdout)?.[1] ?? '22';
  const hasUser = /^User=./m.test(stdout) && instance.traffic?.type === 'socket';
  if (hasUser && (Number.parseInt(umask || '0', 8) & 0o022) === 0o022) missing.push('UMask=0007');
  return missing.map(
    (what) => `start: ${start.unit} has no ${what}: systemctl edit --full ${start.unit}`,
  );
}

/**
 * What an operator should know before two versions run at once, a sentence each. `memory` is what one takes now,
 * in bytes, `compose` the compose file of the commit.
 */
export function trafficNotes(
  paths: Paths,
  app: string,
  file: DeployFile,
  { memory, compose }: { readonly memory: number; readonly compose: Uint8Array | undefined },
): string[] {
  const { instances, start } = file;
  const free = availableMemory();
  const notes: string[] = [];
  if (memory > free)
    notes.push(
      `traffic: two versions of ${app} run at once, which takes ${inMb(memory)} MB more; ${inMb(free)} MB are free: set overlap: false, or add memory`,
    );
  for (const { name, traffic } of instances) {
    const own = paths.app(app).instance(name);
    const isSocket = traffic?.type === 'socket' && !socketProblem(own, traffic, file);
    const note = isSocket && haproxyNote(own, file);
    if (note) notes.push(`traffic: ${note}`);
  }
  notes.push(...proxyNotes(paths, app, instances));
  if (start.type === 'compose' && compose && instances.some(startsBeside))
    notes.push(...doubled(start.file, compose));
  return notes;
}

/** The proxy of the active version would not find the next one. */
function proxyNotes(paths: Paths, app: string, instances: readonly Instance[]): string[] {
  const state = findApp(paths, app);
  const active = state && activeFile(paths, state);
  return instances.flatMap(({ name, traffic }) => {
    const before = active?.instances.find((each) => each.name === name)?.traffic;
    const [from, to] = [wayOf(before), wayOf(traffic)];
    if (before === undefined || from === to) return [];
    return [`traffic: ${name} changes from ${from} to ${to}: change the proxy at the same time`];
  });
}

function wayOf(traffic: Instance['traffic']): string {
  if (traffic === undefined) return 'none';
  return traffic.type === 'ports' ? `the ports ${traffic.ports?.join(', ')}` : traffic.type;
}

const inMb = (bytes: number) => Math.ceil(bytes / 2 ** 20);

/** Each slot is a project of its own: a database in the file would run twice. */
function doubled(name: string, bytes: Uint8Array): string[] {
  const file = { name, code: 'deploy_file_invalid' } as const;
  // What docker accepts and we do not read, such as an alias, is not looked into.
  const tree = unlessFailure(() => readYaml(bytes, file), undefined);
  const services = entriesOf(tree).find(({ key }) => key === 'services');
  return entriesOf(services?.value).flatMap(({ key, value }) => {
    const isOurs = textsOf(value, 'ports').some((text) => /\$\{?PORT\b/.test(text));
    const volume = textsOf(value, 'volumes').find((text) => /^[\w-]+:/.test(text));
    if (isOurs || volume === undefined) return [];
    const what = `${name}: ${key} has the volume ${volume.split(':')[0]}, and would run in both slots`;
    return [`traffic: ${what}, with a volume each: keep it in a compose file of its own`];
  });
}

function entriesOf(tree: Tree | undefined) {
  return tree?.kind === 'map' ? tree.entries : [];
}

/** The plain texts of a list in a service. */
function textsOf(service: Tree, wanted: string): string[] {
  const list = entriesOf(service).find(({ key }) => key === wanted)?.value;
  if (list?.kind !== 'list') return [];
  return list.items.flatMap((item) => (item.kind === 'scalar' ? [item.source] : []));
}
