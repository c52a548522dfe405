/**
 * Rekeys among commands that change and read the registry. This file starts itself again with a
 * role: one counts in a state file as a deploy does, the other opens tokens again and again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { changeApp } from '@runner/common/apps/change';
import { findApp } from '@runner/common/apps/store';
import { processIo } from '@runner/common/foundation/io';
import { pathsOf } from '@runner/common/foundation/paths';
import { openToken } from '@runner/common/tokens/open';
import { run } from '@runner/testing/run';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keyIds, rekey, rootWith, THREE, tokensIn } from './rekey-root.ts';

const [role, roleRoot = '', app = ''] = process.argv.slice(2);
/** How long everybody works, in milliseconds. */
const WORK = 5000;

function startRole(name: string, root: string, whose: string): ChildProcess {
  return spawn(process.execPath, [__filename, name, root, whose], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function outputOf(child: ChildProcess): Promise<number> {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  const [status] = (await once(child, 'close')) as [number | null];
  assert.is(status, 0);
  return Number(text);
}

/** Calls `body` again and again until the time is up, at least so often; resolves how often. */
async function meanwhile(least: number, body: (round: number) => Promise<void>): Promise<number> {
  const end = Date.now() + WORK;
  let round = 0;
  for (; Date.now() < end || round < least; round += 1) await body(round);
  return round;
}

test('rekeys, adds, edits, deploys and lists at the same time lose nothing and open everything', async () => {
  const root = rootWith({ ...THREE, busy: 'token-of-busy' });
  const counters = ['busy', 'api'].map((whose) => outputOf(startRole('count', root, whose)));
  const reader = outputOf(startRole('read', root, 'shop'));
  const added: string[] = [];
  let edited = THREE.blog;
  const rekeys = [1, 2].map(() =>
    meanwhile(3, async () => {
      const { status, stderr } = await rekey(root);
      assert.is(status, 0, stderr);
    }),
  );
  const adding = meanwhile(3, async (round) => {
    const name = `new${round}`;
    const args = ['--repo', 'acme/new', '--branch', 'main', '--name', name, '--token-from', 'shop'];
    const { status, stderr } = await run('runner-add', args, { root });
    assert.is(status, 0, stderr);
    added.push(name);
  });
  const editing = meanwhile(1, async (round) => {
    const next = `token-number-${round}`;
    const args = ['blog', '--token', '-'];
    const { status, stderr } = await run('runner-edit', args, { root, stdin: next });
    assert.is(status, 0, stderr);
    edited = next;
    const list = await run('runner-tokens', ['list', '--json'], { root });
    assert.is(list.status, 0, list.stderr);
  });
  const [counts] = await Promise.all([Promise.all(counters), reader, ...rekeys, adding, editing]);
  const fromShop = Object.fromEntries(added.map((name) => [name, THREE.shop ?? null]));
  const expected = { ...THREE, ...fromShop, busy: 'token-of-busy', blog: edited ?? null };
  const found = tokensIn(root);
  assert.equal(Object.keys(found), Object.keys(expected).sort());
  for (const [name, token] of Object.entries(expected)) assert.is(found[name], token, name);
  assert.equal(
    ['busy', 'api'].map((whose) => findApp(pathsOf(root), whose)?.counted),
    counts,
  );
  await rekey(root);
  assert.is(keyIds(root).length, 1);
});

test('rekeys that begin at the same moment do not drop the key of one another', async () => {
  for (let round = 0; round < 5; round += 1) {
    const root = rootWith(THREE);
    const ended = await Promise.all([rekey(root), rekey(root), rekey(root)]);
    assert.equal(
      ended.map(({ status }) => status),
      [0, 0, 0],
    );
    assert.equal(tokensIn(root), THREE);
    assert.is(keyIds(root).length, 1);
  }
});

/** Changes a state file as a deploy does at each step, and prints how often. */
async function count(): Promise<void> {
  const paths = pathsOf(roleRoot);
  const times = await meanwhile(1, async (round) => {
    changeApp({ io: processIo(), paths, command: 'deploy', app }, (state) => ({
      ...state,
      counted: round + 1,
    }));
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
  process.stdout.write(String(times));
}

/** Opens a token that never changes, and prints how often. */
async function read(): Promise<void> {
  const times = await meanwhile(50, async () => {
    assert.is(openToken(pathsOf(roleRoot), {}, app)?.reveal(), THREE[app]);
    await new Promise((resolve) => setTimeout(resolve, 1));
  });
  process.stdout.write(String(times));
}

if (role === 'count') void count();
else if (role === 'read') void read();
else test.run();
