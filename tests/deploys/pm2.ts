/** The real pm2 of the checkout, with a daemon of its own. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { distFolder } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export const execute = promisify(execFile);

/** Where the checkout's own programs are, the real pm2 among them. */
const installed = join(distFolder(), '..', 'node_modules/.bin');

/** pm2's own environment: its home is a folder of the test. */
export async function startPm2() {
  const home = temporaryFolder('pm2');
  const env = () => ({
    PATH: `${installed}:${dirname(process.execPath)}:${process.env.PATH}`,
    PM2_HOME: home,
  });
  return {
    env,
    async kill() {
      // The daemon by its own number: `pm2 kill` waits for one that may be gone.
      const pid = Number(readFileSync(join(home, 'pm2.pid'), 'utf8'));
      await execute(join(installed, 'pm2'), ['kill'], { env: { ...process.env, ...env() } });
      if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
    },
  };
}

/** An ecosystem file with the app and a worker beside it. */
export const ECOSYSTEM = `module.exports = { apps: [
  { name: 'web', script: 'server.js' },
  { name: 'worker', script: 'worker.js' },
] };
`;
/** The files that it names, beside `server.js`. */
export const FILES = {
  'app.config.js': ECOSYSTEM,
  'worker.js': 'setInterval(() => {}, 1000);\n',
};
