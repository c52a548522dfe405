/** What an operator should know before two versions run at once: their memory, and what compose would double. */
import { readFileSync } from 'node:fs';
import { liveSlot } from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import type { Instance } from '@runner/common/deploy-file/instance';
import type { DeployFile } from '@runner/common/deploy-file/read';
import { namesIn } from '@runner/common/files/read';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { readYaml } from '@runner/common/yaml/read';
import type { Tree } from '@runner/common/yaml/schema';
import { availableMemory } from '../run/memory.ts';
import { environmentOf } from '../run/processes.ts';
import { placeIn, startsBeside } from './place.ts';
import { haproxyNote, socketProblem } from './reach.ts';
import { activeFile } from './target.ts';

/** A sentence for each; `compose` is the compose file of the commit. */
export function trafficNotes(
  paths: Paths,
  app: string,
  file: DeployFile,
  compose: Uint8Array | undefined,
): string[] {
  const { instances, start } = file;
  const beside = instances.filter(startsBeside);
  const free = availableMemory();
  const used = beside.map((instance) => memoryOf(paths, app, instance));
  const sum = used.reduce((all, each) => all + each, 0);
  const notes =
    sum > free
      ? [
          `traffic: two versions of ${app} run at once, which takes ${inMb(sum)} MB more; ${inMb(free)} MB are free: set overlap: false, or add memory`,
        ]
      : [];
  for (const { name, traffic } of instances) {
    const own = paths.app(app).instance(name);
    const note = traffic?.type === 'socket' && !socketProblem(own, file) && haproxyNote(own, file);
    if (note) notes.push(`traffic: ${note}`);
  }
  notes.push(...proxyNotes(paths, app, instances));
  if (start.type === 'compose' && compose && beside.length > 0)
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

/** Resident memory of what is live, in bytes: what its successor is going to need as well. */
function memoryOf(paths: Paths, app: string, instance: Instance): number {
  const own = paths.app(app).instance(instance.name);
  const live = liveSlot(own);
  if (live === undefined) return 0;
  const { PORT, RUNNER_SLOT } = placeIn(instance, own, live).env;
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const env = environmentOf(Number(pid));
      return env.PORT === PORT && env.RUNNER_SLOT === RUNNER_SLOT;
    })
    .map(residentMemory)
    .reduce((all, each) => all + each, 0);
}

function residentMemory(pid: string): number {
  const status = orElse(() => readFileSync(`/proc/${pid}/status`, 'latin1'), '');
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

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
