/** How long nobody answers while the driver `process` restarts an app in place. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { appFiles, freePort, killApp } from '@runner/testing/app';
import { startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

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
  const root = join(temporaryFolder('bench'), 'root');
  mkdirSync(root);
  const git = await startGitServer();
  await git.createRepo('acme/app', { public: true });
  const port = await freePort();
  const deploy = `instances: { default: { env: { PORT: "${port}" } } }
start: { type: process, run: exec node server.js }
health: { url: "http://127.0.0.1:${port}/health", interval: 10ms }
`;
  writeFileSync(join(root, 'config.yml'), `code_host_git_url: ${git.url}\n`, { mode: 0o600 });
  const args = ['--repo', 'acme/app', '--branch', 'main', '--public'];
  await run('runner-add', args, { root });
  const gaps: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await git.commit('acme/app', { ...appFiles(`v${round}`), '.deploy.yml': deploy }, `v${round}`);
    const deployed = () => run('runner-deploy', ['app'], { root });
    if (round === 0) await deployed();
    else gaps.push(await longestGap(port, deployed));
  }
  killApp(root, 'app');
  await git.close();
  gaps.sort((a, b) => a - b);
  const at = (part: number) => `${Math.round(gaps[Math.floor((gaps.length - 1) * part)] ?? 0)} ms`;
  process.stdout.write(
    `\n### Gap when the driver process restarts a Node app in place\n\n| lower quartile | median | longest |\n|---|---|---|\n| ${at(0.25)} | ${at(0.5)} | ${at(1)} |\n`,
  );
}
