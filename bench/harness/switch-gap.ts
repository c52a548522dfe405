/** How long nobody answers while the driver `process` restarts an app in place. */
import { request } from 'node:http';
import { appFiles, freePort, killApp } from '@runner/testing/app';
import { startGitServer } from '@runner/testing/git-server';
import { printRows, quantile } from './measure.ts';
import { makeRoot, mustRun } from './root.ts';

/** Whether the app answers within a second. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', agent: false, timeout: 1000 }, (response) => {
      response.resume();
      response.on('end', () => resolve(true));
      response.on('error', () => resolve(false));
    });
    asked.on('error', () => resolve(false));
    asked.on('timeout', () => asked.destroy());
    asked.end();
  });
}

/** Longest time in milliseconds between two answers while `body` runs. */
async function longestGap(port: number, body: () => Promise<unknown>): Promise<number> {
  let over = false;
  let longest = 0;
  const watch = async () => {
    let last = performance.now();
    while (!over) {
      if (await answers(port)) {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const watching = watch();
  await body();
  over = true;
  await watching;
  return longest;
}

/** Deploys again and again, and prints how long the app was away each time. */
export async function switchGap(rounds: number): Promise<void> {
  const git = await startGitServer();
  await git.createRepo('acme/app', { public: true });
  const port = await freePort();
  const deploy = `instances: { default: { env: { PORT: "${port}" } } }
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:${port}/health", interval: 10ms }
`;
  const root = await makeRoot(`code_host_git_url: ${git.url}\n`, 'acme/app');
  const gaps: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await git.commit('acme/app', { ...appFiles(`v${round}`), '.deploy.yml': deploy }, `v${round}`);
    const deployed = () => mustRun('runner-deploy', ['app0'], { root });
    if (round === 0) await deployed();
    else gaps.push(await longestGap(port, deployed));
  }
  killApp(root, 'app0');
  await git.close();
  const at = (part: number) => `${Math.round(quantile(gaps, part))} ms`;
  printRows(
    'Gap when the driver process restarts a Node app in place',
    ['lower quartile', 'median', 'longest'],
    [[at(0.25), at(0.5), at(1)]],
  );
}
