/** Tests with a world and the API of its code host; `config` is a line of config.yml. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startHostApi } from '@runner/testing/host-api';
import type { HostApiServer } from '@runner/testing/host-api-types';
import { suite } from 'uvu';
import { makeWorld, TOKEN, type World } from './world.ts';

export function hostSuite(name: string, config: string) {
  const test = suite<{ world: World; api: HostApiServer }>(name);
  test.before.each(async (context) => {
    context.world = await makeWorld();
    context.api = await startHostApi('github');
    context.api.tokens.set(TOKEN, { login: 'ada', scopes: ['repo'] });
    const { world, api } = context;
    const text = `code_host_git_url: ${world.git.url}\ncode_host_api_url: ${api.apiUrl}\n${config}\n`;
    writeFileSync(join(world.root, 'config.yml'), text, { mode: 0o600 });
  });
  test.after.each(async ({ world, api }) => {
    await Promise.all([world.close(), api.close()]);
  });
  return test;
}
