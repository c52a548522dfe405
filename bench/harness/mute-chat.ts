/** How long a deploy waits for a chat that takes the request and never answers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { startGitServer } from '@runner/testing/git-server';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

/** Seconds, in all. */
const BUDGET = 15;
/** Seconds by which starting the notifier and one deploy may differ from the other. */
const SLACK = 0.5;

/** Deploys once without and once with that chat, prints the difference; whether the budget was kept. */
export async function muteChat(): Promise<boolean> {
  const chat = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => chat.once('listening', resolve));
  const { port } = chat.address() as AddressInfo;
  const root = join(temporaryFolder('bench'), 'root');
  mkdirSync(root);
  const git = await startGitServer();
  await git.createRepo('acme/app', { public: true });
  await git.commit('acme/app', { '.deploy.yml': 'notify: { channel: discord }\n' }, 'one');
  const hook = `http://127.0.0.1:${port}/api/webhooks/123456789012345678/abcdef`;
  const config = `code_host_git_url: ${git.url}\nnotify:\n  discord_webhook: ${hook}\n`;
  writeFileSync(join(root, 'config.yml'), config, { mode: 0o600 });
  await run('runner-add', ['--repo', 'acme/app', '--branch', 'main', '--public'], { root });
  const deploy = async (...options: string[]) => {
    const { status, ms } = await run('runner-deploy', ['app', ...options], { root });
    if (status !== 0) throw new Error(`the deploy ended with ${status}`);
    return ms / 1000;
  };
  await deploy('--no-notify');
  const without = await deploy('--no-notify');
  const waited = (await deploy()) - without;
  await git.close();
  chat.close();
  chat.unref();
  const kept = waited <= BUDGET + SLACK;
  process.stdout.write(
    `\n### A chat that takes the request and never answers\n\n| what | waited | ratio to the budget | budget | |\n|---|---|---|---|---|\n| deploy | ${waited.toFixed(1)} s | ${(waited / BUDGET).toFixed(2)} | ${BUDGET} s | ${kept ? 'kept' : 'MISSED'} |\n`,
  );
  return kept;
}
