import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { signingKey } from '../signed/keys.ts';

const test = suite('grants');

test('a grant plans what it may, needs an approval, and gives none', () =>
  inWorld(async (world) => {
    const { root } = world;
    await world.launch('v1');
    const etc = temporaryFolder('etc');
    const as = (grant: string) => ({ root, env: { RUNNER_ETC: etc, RUNNER_GRANT: grant } });
    const admin = { root, env: { RUNNER_ETC: etc } };
    const add = (name: string, level: string, app = 'shop', key = signingKey().line) =>
      run('runner-grant', ['add', name, '--level', level, '--app', app, '--key', '-'], {
        ...admin,
        stdin: `${key} helper@laptop\n`,
      });
    await run('runner-add', ['--repo', 'acme/blog', '--branch', 'main', '--public'], { root });
    for (const level of ['look', 'propose']) assert.is((await add(`by-${level}`, level)).status, 0);
    const held = signingKey().line;
    assert.is((await add('by-operate', 'operate', 'shop', held)).status, 0);
    assert.is((await add('other', 'operate', 'blog')).status, 0);
    const shared = signingKey().line;
    assert.is((await add('first', 'look', 'shop', shared)).status, 0);
    const second = await add('second', 'operate', 'shop', shared);
    assert.is(second.status, 1);
    assert.match(second.stderr, "the key is that of the grant 'first' (grant_invalid)");
    const keys = join(etc, 'runner/agent_keys');
    assert.match(
      readFileSync(keys, 'utf8'),
      /^restrict,command="\S+runner-mcp --grant by-look" ssh-ed25519 \S+ by-look$/m,
    );
    assert.is(statSync(join(etc, 'runner/grants/by-look.json')).mode & 0o777, 0o644);
    const plan = (grant: string, verb: string) =>
      run('runner-plan', [verb, 'shop', '--json'], as(grant));
    for (const grant of ['by-look', 'other', 'nobody'])
      assert.match((await plan(grant, 'restart')).stderr, '(grant_invalid)');
    const proposed = JSON.parse((await plan('by-propose', 'restart')).stdout);
    assert.equal(
      [proposed.needs.count, proposed.by, proposed.grant],
      [1, 'grant by-propose', 'by-propose'],
    );
    const own = await run('runner-approve', [proposed.id], as('by-propose'));
    assert.match(own.stderr, 'a grant has no word of its own');
    assert.match(
      (await run('runner-apply', [proposed.id], as('by-propose'))).stderr,
      'has 0 of 1 approvals',
    );
    assert.match(
      (await run('runner-deploy', ['shop'], as('by-operate'))).stderr,
      '(approval_required)',
    );
    const operated = JSON.parse((await plan('by-operate', 'restart')).stdout);
    assert.is(operated.needs.count, 0);
    assert.match(
      (await run('runner-apply', [operated.id], as('by-propose'))).stderr,
      'was not made by the grant',
    );
    const applied = await run('runner-apply', [operated.id], as('by-operate'));
    assert.is(applied.status, 0, applied.stderr);
    assert.equal(
      [world.events().at(-1)?.plan, world.events().at(-1)?.user],
      [operated.id, 'grant by-operate'],
    );
    const demoted = JSON.parse((await plan('by-operate', 'restart')).stdout);
    assert.is((await add('by-operate', 'propose', 'shop', held)).status, 0);
    const late = await run('runner-apply', [demoted.id], as('by-operate'));
    assert.is(late.status, 1);
    assert.match(late.stderr, 'has 0 of 1 approvals');
    appendFileSync(
      join(root, 'config.yml'),
      'require_approval: { shop: { restart: 1, by: [ada, root], not_author: true } }\n',
    );
    const hers = ['add', 'hers', '--level', 'propose', '--app', 'shop', '--user', 'root'];
    assert.is((await run('runner-grant', hers, admin)).status, 0);
    const asked = JSON.parse((await plan('hers', 'restart')).stdout);
    const word = await run('runner-approve', [asked.id], admin);
    assert.is(word.status, 1);
    assert.match(word.stderr, `made ${asked.id}: someone else has to approve it`);
    // A plan ends with its grant, whose key may have been stolen.
    assert.is((await run('runner-grant', ['remove', 'hers'], admin)).status, 0);
    const gone = `${asked.id} no longer applies: the grant hers was removed, or has another key; run`;
    for (const tool of ['approve', 'apply']) {
      const ended = await run(`runner-${tool}`, [asked.id], admin);
      assert.is(ended.status, 1);
      assert.match(ended.stderr, gone);
    }
    const plans = await run('runner-plan', ['list'], admin);
    assert.match(plans.stdout, /grant hers +outdated: the grant hers was removed/);
    assert.is((await add('by-operate', 'operate', 'shop', signingKey().line)).status, 0);
    const other = await run('runner-apply', [demoted.id], admin);
    assert.match(other.stderr, 'the grant by-operate was removed, or has another key');
    assert.is((await run('runner-grant', ['remove', 'by-look'], admin)).status, 0);
    const partial = JSON.stringify({ name: 'partial', level: 'look', apps: ['shop'] });
    writeFileSync(join(etc, 'runner/grants/partial.json'), partial, { mode: 0o644 });
    const listed = await run('runner-grant', ['list'], admin);
    assert.is(listed.status, 1);
    assert.match(listed.stderr, /the grant 'partial' cannot be read: \S+ \(grant_invalid\)\n$/);
    assert.not.match(readFileSync(keys, 'utf8'), 'by-look');
  }));

test('the keys of grants that are added at the same moment are all there', () =>
  inWorld(async ({ root }) => {
    const etc = temporaryFolder('etc');
    const names = ['ada', 'bob', 'cy', 'dan', 'eve', 'fay'];
    const added = names.map((name) =>
      run('runner-grant', ['add', name, '--level', 'look', '--app', 'shop', '--key', '-'], {
        root,
        env: { RUNNER_ETC: etc },
        stdin: `${signingKey().line}\n`,
      }),
    );
    for (const { status, stderr } of await Promise.all(added))
      assert.equal([status, stderr], [0, '']);
    const keys = readFileSync(join(etc, 'runner/agent_keys'), 'utf8');
    assert.equal(
      [...keys.matchAll(/--grant (\w+)"/g)].map(([, name]) => name),
      names,
    );
  }));

test.run();
