/** What `.deploy.yml` means to a preview. */
import { Failure } from '../foundation/failure.ts';
import type { DeployFile } from './read.ts';

/** Of a start that the file does not describe, in ms. */
const LIMITS = { timeout: 60_000, stopTimeout: 10_000 };

const fail = (key: string, why: string) =>
  new Failure('deploy_file_invalid', `.deploy.yml: ${key}: ${why}`);

/**
 * The file as a preview of it is deployed: nothing of it reaches the app's units, ports, database, jobs
 * or chats. Throws `deploy_file_invalid` for what a preview cannot be made of.
 */
export function asPreview(
  file: DeployFile,
  { domain, notify }: { readonly domain: string; readonly notify?: true },
): DeployFile {
  const { start, preview, instances, migrate } = file;
  const { timeout, stopTimeout } = start.type === 'none' ? LIMITS : start;
  const started = preview.run
    ? { type: 'process' as const, run: preview.run, timeout, stopTimeout }
    : start;
  if (started.type !== 'process' && started.type !== 'none')
    throw fail('preview.run', `a preview needs it with start.type ${start.type}`);
  const isServed = ({ traffic }: (typeof instances)[number]) => traffic?.type === 'socket';
  if (started.type === 'process' && !instances.some(isServed))
    throw fail('traffic', "a preview needs type socket: the ports of the server are the app's");
  const served = instances.find(isServed) ?? instances[0];
  return {
    ...file,
    start: started,
    stop: undefined,
    logs: undefined,
    // An instance with ports would take those of the app.
    instances: instances
      .filter(({ traffic }) => traffic === undefined || traffic.type === 'socket')
      .map((each) => ({
        ...each,
        domain: each === served && started.type === 'process' ? domain : undefined,
      })),
    migrate: preview.database &&
      migrate && {
        ...migrate,
        backup: undefined,
        isRehearsed: false,
        contract: undefined,
      },
    jobs: [],
    watch: undefined,
    canary: [],
    keep: 1,
    hooks: { ...file.hooks, post_deploy: [], on_failure: [] },
    notify: notify ? file.notify : 'none',
  };
}
