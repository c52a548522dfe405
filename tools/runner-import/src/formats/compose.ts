/** compose: docker keeps reading the file, from each release. */
import { dirname, join } from 'node:path';
import { word } from '@runner/common/text/shell';
import type { SourceEntry } from '../plan/entry.ts';
import { left, OF_SYSTEM, type Plan, to } from '../plan/plan.ts';
import { isSecret } from '../plan/secret.ts';
import { type ImportRule, none, type SourceFormat, stays } from '../plan/table.ts';
import { yamlEntries } from '../read/yaml.ts';
import { inRelease, listening } from './place.ts';

const KEPT = stays('start.file');

/** `NAME: value` and `NAME=value` of `environment`. */
const variable: ImportRule = ({ path, value }, plan) => {
  const last = path.at(-1) as string;
  const text = String(value ?? '');
  const at = text.indexOf('=');
  const [name, own] = last.startsWith('[')
    ? [at === -1 ? text : text.slice(0, at), at === -1 ? '' : text.slice(at + 1)]
    : [last, text];
  // Already a variable of the environment.
  if (own === '' || /^\$(?:\{[^}]*\}|\w+)$/.test(own) || !isSecret(name, own))
    return to('start.file');
  return plan.secretInFile(name);
};

/** The end of a folder's name, beside the file or in the container, in which an app keeps data. */
const DATA = /(?:^|[/_-])(?:data|db|uploads?|storage|media|logs?|backups?)$/i;
/** Folders of a container that are filled from the repository. */
const CONFIGURED = /^\/(?:etc|docker-entrypoint)/;

/** A folder beside the file is in the release, and ends with it; a shared one never gets what a commit changes. */
const volume: ImportRule = (entry, plan) => {
  const [source = '', target = '', mode = ''] = String(entry.value).split(':');
  if (!/^\.\.?\//.test(source)) return to('start.file');
  if (source.startsWith('../')) return left('leads out of the release: give an absolute path');
  const [path, inside] = [source.replace(/^(?:\.\/)+/, ''), target].map((each) =>
    each.replace(/\/+$/, ''),
  ) as [string, string];
  if (/\bro\b/.test(mode) || /\.\w+$/.test(path) || path === '') return to('start.file');
  const isData = DATA.test(path) || DATA.test(inside) || inside.startsWith('/var/lib/');
  return isData && !CONFIGURED.test(inside)
    ? plan.append('shared', entry, `${path}/`)
    : left(
        'is the folder of each release: if the app writes what it must keep there, add it to shared',
      );
};
const envFile: ImportRule = (entry, plan) => {
  const path = String(entry.value).replace(/^(?:\.\/)+/, '');
  return /^[\w.][\w./-]*$/.test(path) && !path.includes('..')
    ? plan.append('shared', entry, path)
    : to('start.file');
};

const published: ImportRule = ({ value }) =>
  /^\d+$/.test(String(value))
    ? left('publishes a different port at each start: give the host port too')
    : to('start.file');

export const compose: SourceFormat = {
  read: yamlEntries,
  nameOf: (entries) => entries.find(({ path }) => path.join('.') === 'name')?.value,
  table: [
    ['name', none('runner names the project itself: remove it')],
    ['services.*.container_name', none('is taken while the old container has it: remove it')],
    ['services.*.environment.**', variable],
    ['services.*.env_file services.*.env_file.[] services.*.env_file.[].path', envFile],
    ['services.*.volumes.[] services.*.volumes.[].source', volume],
    ['services.*.ports.[]', published],
    ['volumes.*', none('would be a new, empty volume: set its name, and external: true')],
    [
      'volumes.** networks.** secrets.** configs.** services.** include.** version include services.*',
      KEPT,
    ],
    ['volumes networks secrets configs services', none('is empty')],
    // docker compose reads them where an alias names them.
    ['**', ({ path }) => (path[0]?.startsWith('x-') ? to('start.file') : left(compose.unknown))],
  ],
  finish: whole,
  unknown: 'is not a key of compose that runner knows; docker compose reads it if it does',
};

function whole(plan: Plan, entries: readonly SourceEntry[], file: string): void {
  if (!entries.some(({ path }) => path[0] === 'services' && path.length > 1)) return;
  const external = new Set(
    entries
      .filter(
        ({ path, value }) => path[0] === 'volumes' && path[2] === 'external' && value === true,
      )
      .map(({ path }) => path[1]),
  );
  for (const entry of entries) {
    const isOwn =
      entry.path[0] === 'volumes' && entry.path.length > 1 && !external.has(entry.path[1]);
    if (isOwn)
      plan.fates.set(entry, left('would be a new, empty volume: set its name, and external: true'));
  }
  plan.derive('start.type', 'compose', 'docker compose up --wait');
  const name = inRelease(file, 'compose.yaml');
  plan.derive('start.file', name, 'docker compose reads it from each release');
  plan.noteSecrets(name, 'with the name alone, docker compose takes what runner passes on');
  const isBuilt = entries.some(({ path }) => path[0] === 'services' && path[2] === 'build');
  fromEnvironment(plan, entries, { folder: dirname(name), isBuilt });
  const option = /^(?:docker-)?compose\.ya?ml$/.test(name) ? '' : ` --file ${word(name)}`;
  if (isBuilt) plan.derive('build.run', `docker compose${option} build`, 'a service has build');
  const ports = entries
    .filter(({ path }) => path[0] === 'services' && path[2] === 'ports' && path.length === 4)
    .map(
      ({ value }) =>
        /^(?:(?:127\.0\.0\.1|0\.0\.0\.0):)?(\d+):\d+(?:\/tcp)?$/.exec(String(value))?.[1],
    );
  const address = ports.length === 1 ? listening(ports[0]) : undefined;
  if (address)
    plan.derive('health.tcp', address, 'the published port; better is a url that answers 200');
}

/** What a value takes from the environment; `$$` is a dollar. */
const TAKEN = /(?<!\$)\$(?:\{(\w+)([^}]*)\}|(\w+))/g;

/**
 * The file `.env` that docker compose reads is rarely in the repository; a build gets no secret that it does not name,
 * and fails without one that any part of the file requires.
 */
function fromEnvironment(
  plan: Plan,
  entries: readonly SourceEntry[],
  { folder, isBuilt }: { folder: string; isBuilt: boolean },
): void {
  const shared = plan.settings.get('shared');
  const paths = [shared?.value ?? []].flat().map(String);
  // A shared one is there during the build, too.
  const isShared = paths.includes('.env');
  const taken = entries.flatMap((entry) =>
    [...String(entry.value ?? '').matchAll(TAKEN)].flatMap(([, name, rest = '', bare]) => {
      const own = (name ?? bare) as string;
      if (isShared || OF_SYSTEM.test(own)) return [];
      const isForBuild = /^(?:build|image)$/.test(String(entry.path[2])) || /^:?\?/.test(rest);
      const isNeeded = !/^:?[-+]/.test(rest) && !plan.has(`instances.default.env.${own}`);
      if (isBuilt && isForBuild && isNeeded) plan.append('build.env', entry, own);
      return own;
    }),
  );
  plan.takes(taken, 'docker compose', join(folder, '.env'));
  // Paths in the file are relative to it.
  if (shared)
    plan.settings.set('shared', { ...shared, value: paths.map((each) => join(folder, each)) });
}
