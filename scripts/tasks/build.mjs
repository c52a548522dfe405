import { join } from 'node:path';
import { placeBundles } from '../bundle/place.mjs';
import { checkout, run, say } from './checkout.mjs';
import { withLock } from './lock.mjs';

export const dist = join(checkout, 'dist');

/** Runs root tasks of turbo.json; quiet unless one fails, or `loud`. Resolves the exit status. */
export async function turbo(tasks, { loud = false } = {}) {
  const args = [
    join(checkout, 'node_modules', 'turbo', 'bin', 'turbo'),
    'run',
    ...tasks,
    '--continue',
    '--output-logs=errors-only',
    '--no-update-notifier',
    '--log-prefix=none',
  ];
  const { status, output } = await run(process.execPath, args, { capture: !loud, toStderr: loud });
  if (status !== 0 && !loud) process.stderr.write(withoutFrame(output));
  return status;
}

/** What the tasks said, without what turbo and pnpm say about having run them. */
function withoutFrame(output) {
  const frame = [
    /^\s*(•|>|Tasks:|Cached:|Time:|Failed:|WARNING {2}|ERROR {2})/,
    /^cache (miss|hit|bypass)|^\/\/#\w+:|^turbo \d|ELIFECYCLE/,
  ];
  const lines = output.split('\n').filter((line) => !frame.some((part) => part.test(line)));
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => `${line}\n`)
    .join('');
}

/** Builds the executables and what is made from their definitions into dist. */
export async function build() {
  say('build: bundling the executables');
  return withLock('build', async () => {
    const status = await turbo(['bundle']);
    placeBundles(dist);
    return status;
  });
}
