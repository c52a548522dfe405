import { watch } from 'node:fs';
import { command } from '@runner/common/cli/command';
import { milliseconds } from '@runner/common/deploy-file/values';
import { invalidValue, signalStatus, systemFailure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { durationOf } from '@runner/common/text/time';
import { type BellFolder, DIR, folderOf, takeRings } from '../folder.ts';

/** How often the folder is checked without inotify, in milliseconds. */
const POLL = 2_000;

export const wait = command({
  name: 'wait',
  about: 'Wait for a call, on systems without systemd',
  details:
    'Prints the apps that were called, and exits. A loop with runner fetch --deploy deploys on each call,\n' +
    'and at least once every TIME.',
  options: {
    timeout: {
      placeholder: 'TIME',
      about: 'Exit after this long (30s, 5m, 1h) without a call',
    },
    dir: DIR,
  },
  exits: [[130, 'Interrupted (Ctrl-C)']],
  examples: ['while runner bell wait --timeout 1m; do runner fetch --deploy --quiet; done'],
  async run({ io, options }) {
    const folder = folderOf(options.dir, io.env);
    const { timeout } = options;
    const limit = timeout === undefined ? undefined : milliseconds(timeout, 0);
    if (timeout !== undefined && durationOf(timeout) === undefined)
      throw invalidValue(timeout, '--timeout <TIME>', 'give a time such as 30s, 5m or 1h');
    try {
      const { apps, by } = await rung(folder, limit);
      return { value: { apps }, status: by ? signalStatus(by) : 0 };
    } catch (error) {
      throw systemFailure(error, `watch ${folder.wake}`);
    }
  },
  human: ({ apps }: { apps: string[] }) => apps.map((app) => `${harmlessLine(app)}\n`).join(''),
});

/** Resolves on a call, a timeout or a signal. */
function rung(
  folder: BellFolder,
  limit: number | undefined,
): Promise<{ apps: string[]; by?: NodeJS.Signals }> {
  return new Promise((resolve, reject) => {
    const watcher = watch(folder.wake);
    const end = (apps: string[], by?: NodeJS.Signals) => {
      watcher.close();
      for (const timer of [poll, last]) clearTimeout(timer);
      resolve({ apps, ...(by && { by }) });
    };
    const look = () => {
      try {
        const apps = takeRings(folder);
        if (apps.length > 0) end(apps);
      } catch (error) {
        watcher.close();
        reject(error);
      }
    };
    const poll = setInterval(look, POLL);
    const last = limit === undefined ? undefined : setTimeout(() => end([]), limit);
    watcher.on('change', look).on('error', reject);
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => end([], signal));
    look();
  });
}
