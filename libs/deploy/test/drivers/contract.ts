/**
 * What every driver that starts something must do, whatever stands behind it: told as one story of
 * deploys of the small HTTP app.
 */
import { appFiles, page } from '@runner/testing/app';
import type { GitServer } from '@runner/testing/git-server';
import { until } from '@runner/testing/until';
import type { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { REPO } from '../../../../tests/deploys/world.ts';

type Test = ReturnType<typeof suite>;

/** Where the deploys of a driver happen. */
export interface Place {
  readonly git: GitServer;
  /** What the app listens on. */
  readonly port: number;
  /** `.deploy.yml` that starts `server.js` by the driver, without health. */
  readonly deployFile: string;
  deploy(): Promise<{ status: number | null; stdout: string; stderr: string }>;
  remove(): Promise<{ status: number | null; stderr: string }>;
  /** `error` of the newest record of the audit log. */
  lastError(): Promise<string>;
  /** What the driver says of the instance. */
  status(): Promise<string>;
  close(): Promise<void>;
}

const CRASH = { 'server.js': "console.error('no such table: users');\nprocess.exit(3);\n" };

/** Asks until the app shows `version`, or nobody answers (null). */
export async function shows(port: number, version: string | null): Promise<void> {
  let seen: string | null = null;
  const shown = async () => {
    seen = await page(port);
    return seen === version;
  };
  await until(shown, () => `the app shows ${seen} and not ${version}`);
}

/** Adds the contract's tests; `open` makes the place before the first of them. */
export function driverContract(test: Test, name: string, open: () => Promise<Place>): void {
  let place: Place;
  const push = (version: string, files: Record<string, string> = {}, more = '') =>
    place.git.commit(
      REPO,
      { ...appFiles(version), '.deploy.yml': `${place.deployFile}${more}`, ...files },
      version,
      { tag: version },
    );
  const health = (within = '60s') =>
    `health: { url: "http://127.0.0.1:${place.port}/health", interval: 50ms, within: ${within} }\n`;

  test(`${name}: a deploy starts the app`, async () => {
    place = await open();
    await push('v1');
    const done = await place.deploy();
    assert.is(done.status, 0, done.stdout + done.stderr + (await place.lastError()));
    await shows(place.port, 'v1');
    assert.is(await place.status(), 'running');
  });

  test(`${name}: the next version replaces the previous one`, async () => {
    await push('v2', {}, health());
    const done = await place.deploy();
    assert.is(done.status, 0, done.stdout + done.stderr);
    await shows(place.port, 'v2');
  });

  test(`${name}: a version that crashes on start fails with its output and is rolled back`, async () => {
    // On a busy machine it may crash after it has counted as started: then health finds it dead.
    await push('v3', CRASH, health('5s'));
    const done = await place.deploy();
    assert.is(done.status, 1, done.stdout + done.stderr);
    assert.match(done.stdout, /Rolled back\. v2 is active\./);
    const error = await place.lastError();
    assert.match(error, /^(start|health): [\s\S]*no such table: users/, error);
    await shows(place.port, 'v2');
    assert.is(await place.status(), 'running');
  });

  test(`${name}: a version that does not become healthy is rolled back`, async () => {
    await push('v4', { HEALTH: '503\n' }, health('1s'));
    const done = await place.deploy();
    assert.is(done.status, 1, done.stdout + done.stderr);
    assert.match(await place.lastError(), /^health: .*, not healthy within 1 s/);
    await shows(place.port, 'v2');
  });

  test(`${name}: it is stopped when the app is removed, and a stop of nothing is fine`, async () => {
    try {
      const done = await place.remove();
      assert.is(done.status, 0, done.stderr);
      assert.is(done.stderr.includes('could not be stopped'), false, done.stderr);
      await shows(place.port, null);
      assert.not.equal(await place.status(), 'running');
    } finally {
      await place.close();
    }
  });
}
