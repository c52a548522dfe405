/** Calls as the documentation of each host describes them, and a bell that listens. */
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { namesIn } from '@runner/common/files/read';
import { freePort } from '@runner/testing/app';
import { writeState } from '@runner/testing/app-states';
import { run, start } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';

export const HOSTS = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
export type Host = (typeof HOSTS)[number];

/** What each host sends with a push of `body`. */
export function headersOf(
  host: Host,
  secret: string,
  body: string | Buffer,
): Record<string, string> {
  const hex = createHmac('sha256', secret).update(body).digest('hex');
  const json = { 'Content-Type': 'application/json' };
  if (host === 'github')
    return {
      ...json,
      'User-Agent': 'GitHub-Hookshot/044aadd',
      'X-GitHub-Event': 'push',
      'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'X-Hub-Signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      'X-Hub-Signature-256': `sha256=${hex}`,
    };
  if (host === 'gitlab')
    return {
      ...json,
      'User-Agent': 'GitLab/17.4.0',
      'X-Gitlab-Event': 'Push Hook',
      'X-Gitlab-Token': secret,
      'X-Gitlab-Webhook-UUID': 'f05345c1-8d66-4e7c-9d0b-1f1f24f3a0b1',
    };
  if (host === 'gitea')
    return {
      ...json,
      'X-Gitea-Event': 'push',
      'X-Gitea-Signature': hex,
      'X-Hub-Signature-256': `sha256=${hex}`,
    };
  return { ...json, 'X-Event-Key': 'repo:push', 'X-Hub-Signature': `sha256=${hex}` };
}

/** A bell for `shop` of each host: the apps are called like them. */
export interface TestBell {
  readonly dir: string;
  readonly root: string;
  readonly port: number;
  readonly secrets: Record<Host, string>;
  /** Lines that it printed. */
  stderr(): string;
  close(): Promise<void>;
}

export async function startBell(): Promise<TestBell> {
  const [dir, root] = [join(temporaryFolder('bell'), 'bell'), temporaryFolder('root')];
  const secrets = {} as Record<Host, string>;
  for (const host of HOSTS) {
    writeState(root, host);
    const args = ['add', host, '--host', host, '--dir', dir, '--json'];
    const { stdout, stderr, status } = await run('runner-bell', args, { root });
    if (status !== 0) throw new Error(stderr);
    secrets[host] = JSON.parse(stdout).secret;
  }
  const port = await freePort();
  const bell = start('runner-bell', ['--listen', `127.0.0.1:${port}`, '--dir', dir], {
    root,
    timeout: 3_600_000,
  });
  await until(
    async () => (await send(port, { method: 'GET', path: '/' })).status === 405,
    'the bell does not listen',
  );
  return {
    dir,
    root,
    port,
    secrets,
    stderr: () => bell.stderr(),
    async close() {
      bell.kill('SIGTERM');
      await bell.done;
    },
  };
}

export interface Call {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** Sends a call; status 0: no answer. */
export function send(
  port: number,
  { path, method = 'POST', headers = {}, body }: Call,
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  return new Promise((resolve) => {
    const call = request(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }),
        );
        answer.on('error', () => resolve({ status: 0, text, headers: {} }));
      },
    );
    call.on('error', () => resolve({ status: 0, text: '', headers: {} }));
    call.end(body);
  });
}

/** Apps that a fetch would be started for. */
export const rung = ({ dir }: TestBell) => namesIn(join(dir, 'wake')).sort();
