/** `start.type: compose`: `docker compose up` of the release's file, one project per instance. */
import type { Start } from '@runner/common/deploy-file/read';
import { type Asked, type Driver, runFor, type Target, unobserved } from './driver.ts';

type Compose = Extract<Start, { type: 'compose' }>;

/** Project names may contain only lower-case letters, digits, dashes and underscores. */
export function projectOf(app: string, instance: string): string {
  return `${app}-${instance}`.toLowerCase().replace(/[^a-z0-9_-]/g, '-');
}

function args(target: Asked, start: Compose): string[] {
  return [
    'compose',
    '--project-name',
    projectOf(target.app, target.instance.name),
    '--file',
    start.file,
  ];
}

function run(
  target: Target,
  start: Compose,
  verb: readonly string[],
  timeout: number,
): Promise<void> {
  const all = [...args(target, start), ...verb];
  return runFor(target, {
    title: ['docker', ...all].join(' '),
    file: 'docker',
    args: all,
    timeout,
  });
}

export const composeDriver: Driver = {
  async start(target) {
    const { start } = target;
    if (start.type === 'compose') {
      // --wait: until the containers run, and are healthy if they have a health check.
      await run(target, start, ['up', '--detach', '--wait', '--remove-orphans'], start.timeout);
    }
    return unobserved;
  },
  async stop(target) {
    const { start } = target;
    if (start.type === 'compose')
      await run(target, start, ['down', '--remove-orphans'], start.stopTimeout);
  },
  status(target) {
    if (target.start.type !== 'compose') return 'unknown';
    return {
      program: 'docker',
      args: [...args(target, target.start), 'ps', '--status', 'running', '--quiet'],
      cwd: target.release,
      env: target.env,
      meaning: (stdout) => (stdout.trim() === '' ? 'stopped' : 'running'),
    };
  },
};
