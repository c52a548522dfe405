/** What a bench talks to runs in a process of its own, because this one is blocked while it measures. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type GitServer, startGitServer } from '@runner/testing/git-server';

/** The token of every app. */
export const TOKEN = 'ghp_benchbenchbenchbenchbenchbenchbe';

/** Calls `serve` in a second process of the same program, and `measure` here with the addresses it resolves. */
export async function besideServices(
  serve: () => Promise<readonly string[]>,
  measure: (addresses: readonly string[]) => Promise<void>,
): Promise<void> {
  if (process.argv[2] === 'serve') {
    process.stdout.write(`${(await serve()).join(' ')}\n`);
    return;
  }
  const server = spawn(process.execPath, [__filename, 'serve', ...process.argv.slice(2)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.on('exit', () => server.kill());
  const [addresses] = (await once(server.stdout, 'data')) as [Buffer];
  await measure(addresses.toString('utf8').trim().split(' '));
  server.kill();
}

/** A git server with the public repository `acme/small`. */
export async function serveGit(): Promise<GitServer> {
  const git = await startGitServer({ token: TOKEN });
  await git.createRepo('acme/small', { public: true });
  await git.commit('acme/small', { 'index.html': 'hello\n', '.deploy.yml': 'keep: 1\n' }, 'one');
  setInterval(() => git.requests.splice(0), 1000);
  return git;
}

/** A code host, or a chat, that says yes to any request; resolves its address. */
export async function serveYes(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.setHeader('x-oauth-scopes', 'repo, read:org');
    response.end('{"id":1,"login":"octocat"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
