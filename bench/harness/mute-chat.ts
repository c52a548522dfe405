/** How long a deploy waits for a chat that takes the request and never answers. */
import { type AddressInfo, createServer } from 'node:net';
import { startGitServer } from '@runner/testing/git-server';
import { printSeconds } from './measure.ts';
import { makeRoot, mustRun } from './root.ts';

/** Seconds, in all. */
const BUDGET = 15;
/** Seconds by which starting the notifier and one deploy may differ from the other. */
const SLACK = 0.5;

/** Deploys once without and once with that chat, prints the difference; whether the budget was kept. */
export async function muteChat(): Promise<boolean> {
  const chat = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => chat.once('listening', resolve));
  const { port } = chat.address() as AddressInfo;
  const git = await startGitServer();
  await git.createRepo('acme/app', { public: true });
  await git.commit('acme/app', { '.deploy.yml': 'notify: { channel: discord }\n' }, 'one');
  const hook = `http://127.0.0.1:${port}/api/webhooks/123456789012345678/abcdef`;
  const config = `code_host_git_url: ${git.url}\nnotify:\n  discord_webhook: ${hook}\n`;
  const root = await makeRoot(config, 'acme/app');
  const deploy = async (...options: string[]) => {
    const { ms } = await mustRun('runner-deploy', ['app0', ...options], { root });
    return ms / 1000;
  };
  await deploy('--no-notify');
  const without = await deploy('--no-notify');
  const waited = (await deploy()) - without;
  await git.close();
  chat.close();
  chat.unref();
  const title = 'A chat that takes the request and never answers';
  return printSeconds(title, 'deploy', waited, { budget: BUDGET, slack: SLACK });
}
