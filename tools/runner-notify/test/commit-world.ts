/** An app on a code host that gets the results of its deploys. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHostApi } from '@runner/testing/host-api';
import type { ApiType, HostApiServer } from '@runner/testing/host-api-types';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as assert from 'uvu/assert';

const TOKEN = 'st4tus-token-of-the-app';
/** The hosts that keep statuses. */
export const TYPES = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
const SCOPES = { scopes: ['api', 'write:repository'] };

interface World {
  readonly root: string;
  readonly api: HostApiServer;
}

/** Starts both. */
export async function makeWorld(type: ApiType): Promise<World> {
  const root = temporaryFolder('root');
  const api = await startHostApi(type);
  api.tokens.set(TOKEN, { login: 'ada', ...SCOPES });
  const hosts = `code_hosts: {here: {type: ${type}, api_url: "${api.apiUrl}", git_url: "https://git.example.org"}}`;
  writeFileSync(join(root, 'config.yml'), `${hosts}\nnotify: {commit_status: true}\n`, {
    mode: 0o600,
  });
  const args = ['--repo', 'here:acme/shop', '--branch', 'main', '--token', '-'];
  const added = await run('runner-add', args, { root, stdin: TOKEN });
  assert.is(added.status, 0, added.stderr);
  return { root, api };
}

/** The commit of a deploy. */
export const sha = (number: number) => number.toString(16).padStart(40, 'c');
/** A record of a deploy. */
export const event = (event_type: string, number: number, more: object = {}) => ({
  event_type,
  project: 'shop',
  instance: 'default',
  version: `v${number}`,
  deploy_id: number.toString(16).padStart(8, '0'),
  commit: sha(number),
  ...more,
});
/** Announces records. */
export const send = (root: string, ...events: object[]) =>
  run('runner-notify', ['send', '--json'], {
    root,
    stdin: events.map((each) => `${JSON.stringify(each)}\n`).join(''),
  });
/** The statuses of commits in the order of arrival: commit, state, description. */
export const statuses = ({ posts }: HostApiServer) =>
  posts.flatMap(({ path, body }) =>
    /\/deployments/.test(path)
      ? []
      : [[/[0-9a-f]{40}/.exec(path)?.[0], body.state, body.description]],
  );
