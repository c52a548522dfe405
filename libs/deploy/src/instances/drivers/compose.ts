/** `start.type: compose`: `docker compose up` of the release's file, one project per instance. */
import { basename, join } from 'node:path';
import type { StartOf } from '@runner/common/deploy-file/start';
import { isThere, makeFolder, readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';
import { existingEnvFile, writeEnvFile } from '../env-file.ts';
import { ANSWER_MAX, ask, askNow } from './ask.ts';
import { type Asked, appFolderOf, type Driver, ownName, runFor, type Target } from './driver.ts';
import { isPid, processesBeside } from './unit-state.ts';

type Compose = StartOf<'compose'>;

/** Project names may contain only lower-case letters, digits, dashes and underscores. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_-]/g, '-');
}

/** Limit of the note of a project's name, in bytes. */
const NAME_MAX = 1_024;

function noteOf({ paths }: Pick<Target, 'paths'>): string {
  return join(paths.run, 'compose-project');
}

/**
 * The project of an instance. 0.1.0 called it `<app>-<instance>`, which other apps may share; an app
 * whose containers have that name keeps it, and with it its volumes.
 */
export function projectOf(target: Asked): string {
  const noted = readTextIfThere(noteOf(target), NAME_MAX)?.trim();
  if (noted) return noted;
  const { app, instance, slot, paths } = target;
  if (slot !== undefined) return plain(ownName(target));
  const old = plain(`${app}-${instance.name}`);
  const project = `label=com.docker.compose.project=${old}`;
  const folder = '{{.Label "com.docker.compose.project.working_dir"}}';
  const { stdout } = ask('docker', ['ps', '--all', '--filter', project, '--format', folder], {
    env: target.outerEnv,
  });
  const releases = join(appFolderOf(paths), 'releases/');
  return stdout.split('\n').some((each) => each.startsWith(releases))
    ? old
    : plain(ownName(target));
}

/** The arguments of `docker` before a verb. */
export function composeArgs(target: Asked<Compose>): string[] {
  const file = ['--file', target.start.file];
  const project = ['compose', '--project-name', projectOf(target), ...file];
  const secrets = existingEnvFile(target);
  if (secrets === undefined) return project;
  // Given one file, docker no longer reads the other one on its own.
  const usual = isThere(join(target.release, '.env')) ? ['--env-file', '.env'] : [];
  return [...project, ...usual, '--env-file', secrets];
}

function run(target: Target<Compose>, label: string, verb: readonly string[], timeout: number) {
  const args = [...composeArgs(target), ...verb];
  const confinement = target.confine('docker');
  return runFor(target, { label, file: 'docker', args, timeout, confinement });
}

/** The part of the answer of `docker compose config` that is read. */
interface ComposeConfig {
  readonly services?: Readonly<
    Record<string, { readonly build?: unknown; readonly image?: string }>
  >;
}

/**
 * Services that are built and have no image of their own: theirs is that of the project, which `up` takes from an
 * earlier release. What docker has built before, it does not build again.
 */
function unnamedBuilds(target: Target<Compose>): string[] {
  const all = [...composeArgs(target), 'config', '--format', 'json'];
  const { env, release: cwd } = target;
  const confinement = target.confine('docker');
  const { stdout } = ask('docker', all, { env, cwd, most: ANSWER_MAX, confinement });
  const none: ComposeConfig = {};
  const { services = {} } = orElse((): ComposeConfig => JSON.parse(stdout) ?? none, none);
  const project = projectOf(target);
  return Object.entries(services).flatMap(([name, { build, image = `${project}-${name}` }]) =>
    build !== undefined && image === `${project}-${name}` ? name : [],
  );
}

/** Builds them, but not at a start of the release that was built last: docker may have forgotten what it built from. */
async function buildUnnamed(target: Target<Compose>): Promise<void> {
  const note = join(target.paths.run, 'compose-built');
  const release = basename(target.release);
  if (readTextIfThere(note, NAME_MAX) === release) return;
  const services = unnamedBuilds(target);
  writeWhole(note, '');
  // Not `up --build`: it also builds what is to be pulled.
  if (services.length > 0) await run(target, 'start', ['build', ...services], target.start.timeout);
  writeWhole(note, release);
}

/** Lines of each container's log that an error shows. */
const LOG_LINES = '50';

function outputOf(target: Target<Compose>): string {
  const all = [...composeArgs(target), 'logs', '--no-color', '--tail', LOG_LINES];
  const confinement = target.confine('docker');
  const { stdout } = ask('docker', all, { env: target.env, cwd: target.release, confinement });
  return target.redact(stdout);
}

export const composeDriver: Driver<Compose> = {
  async start(target) {
    writeEnvFile(target);
    makeFolder(target.paths.run);
    writeWhole(noteOf(target), `${projectOf(target)}\n`);
    await buildUnnamed(target);
    // --wait: until the containers run, and are healthy if they have a health check.
    const up = ['up', '--detach', '--wait', '--remove-orphans'];
    await run(target, 'start', up, target.start.timeout);
    const output = () => outputOf(target);
    const words = `no container of the project ${projectOf(target)} runs`;
    const death = () =>
      askNow(composeDriver.status(target)) === 'stopped' ? { words, output: output() } : undefined;
    return { death, output };
  },
  stop: (target) => run(target, 'stop', ['down', '--remove-orphans'], target.start.stopTimeout),
  status(target) {
    return {
      program: 'docker',
      args: [...composeArgs(target), 'ps', '--status', 'running', '--quiet'],
      cwd: target.release,
      env: target.env,
      confinement: target.confine('docker'),
      read(stdout) {
        const ids = stdout.split('\n').filter(Boolean);
        const pids = () => {
          const args = ['inspect', '--format', '{{.State.Pid}}', ...ids];
          const inspected = ask('docker', args, { env: target.outerEnv, cwd: target.release });
          return inspected.stdout.split('\n').map(Number).filter(isPid).flatMap(processesBeside);
        };
        return { status: ids.length === 0 ? 'stopped' : 'running', pids };
      },
    };
  },
};
