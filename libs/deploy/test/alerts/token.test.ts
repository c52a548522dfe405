import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listApps } from '@runner/common/apps/store';
import { pathsOf } from '@runner/common/foundation/paths';
import { tokenChanges } from '@runner/deploy/alerts/token';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const DAY = 86_400_000;
const END = Date.parse('2026-06-30T00:00:00Z');

test('an expiry is announced 14, 7, 3 and 1 days ahead, once per token, with all its apps', () => {
  const root = temporaryFolder('root');
  const paths = pathsOf(root);
  mkdirSync(join(root, 'state'));
  for (const app of ['blog', 'docs', 'shop']) {
    const token = {
      repohost_token_ends: '2026-06-30T00:00:00.000Z',
      repohost_token_fingerprint: 'tk_1',
    };
    const state = { version: 1, app, repo: `acme/${app}`, branch: 'main', state: token };
    writeFileSync(paths.state(app), JSON.stringify(state));
  }
  const announced: unknown[] = [];
  // Every six hours for thirty days, as a timer would, and each time for each app alone.
  for (let time = END - 30 * DAY; time < END; time += DAY / 4) {
    for (const app of listApps(paths).apps) {
      const now = JSON.parse(readFileSync(paths.state(app.app), 'utf8'));
      for (const { change } of tokenChanges(paths, [now], new Date(time)))
        announced.push([Math.ceil((END - time) / DAY), change.event_type, change.projects]);
    }
  }
  const apps = ['blog', 'docs', 'shop'];
  assert.equal(
    announced,
    [14, 7, 3, 1].map((days) => [days, 'TokenEnding', apps]),
  );
});

test.run();
