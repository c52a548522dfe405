import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  COMMIT,
  DEPLOYING,
  deployed,
  failures,
  HELD,
  INTERRUPTED,
  rootWith,
  running,
} from '@runner/testing/app-states';
import { run } from '@runner/testing/run';
import { temporaryFolder, tree } from '@runner/testing/temp';
import { runOnTerminal } from '@runner/testing/terminal';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const list = (root: string, ...args: string[]) => run('runner-list', args, { root });

/** One app for each state that an app can be in. */
const EVERY_STATE = {
  a: {},
  b: { instances: running('v2') },
  c: { instances: running('v2'), failures: failures(2) },
  d: { instances: running('v2'), failures: failures(3) },
  e: { instances: running('v2'), held: HELD },
  f: { instances: running('v2'), failures: failures(3), held: HELD, deploying: DEPLOYING },
  g: { instances: { default: { current: null, previous: [] } } },
  h: { instances: running('v2'), deploying: INTERRUPTED },
};

test('each app is a line with what runs, since when, its state and its source', async () => {
  const { status, stdout, stderr } = await list(rootWith(EVERY_STATE));
  assert.is(
    stdout,
    `APP  STATE        INSTANCE  VERSION  SINCE (UTC)       SOURCE
a    new          -         -        -                 acme/a#main
b    ok           default   v2       2026-05-04 09:30  acme/b#main
c    failing      default   v2       2026-05-04 09:30  acme/c#main
d    blocked      default   v2       2026-05-04 09:30  acme/d#main
e    held         default   v2       2026-05-04 09:30  acme/e#main
f    deploying    default   v2       2026-05-04 09:30  acme/f#main
g    new          default   -        -                 acme/g#main
h    interrupted  default   v2       2026-05-04 09:30  acme/h#main
`,
  );
  assert.equal([status, stderr], [0, '']);
});

test('the addresses have a column as soon as one is known', async () => {
  const at = { ...deployed('v2'), url: 'https://shop.example' };
  const instances = { eu: { current: at, previous: [] }, worker: running('v2').default };
  const root = rootWith({ shop: { instances } });
  const { stdout } = await list(root);
  assert.is(
    stdout,
    `APP   STATE  INSTANCE  VERSION  SINCE (UTC)       URL                   SOURCE
shop  ok     eu        v2       2026-05-04 09:30  https://shop.example  acme/shop#main
shop  ok     worker    v2       2026-05-04 09:30  -                     acme/shop#main
`,
  );
  const [app] = JSON.parse((await list(root, '--json')).stdout).apps;
  assert.equal(
    app.instances.map(({ url }: { url: unknown }) => url),
    ['https://shop.example', null],
  );
});

test('an app with several instances has a line for each', async () => {
  const instances = {
    eu: { current: deployed('v2'), previous: [] },
    us: { current: null, previous: [deployed('v1')] },
  };
  const { stdout } = await list(rootWith({ shop: { instances } }));
  assert.equal(stdout.split('\n').slice(1), [
    'shop  ok     eu        v2       2026-05-04 09:30  acme/shop#main',
    'shop  ok     us        -        -                 acme/shop#main',
    '',
  ]);
});

test('an instance that runs is ok beside one that an operator stopped', async () => {
  const instances = Object.fromEntries(
    ['eu', 'us'].map((name) => [name, { current: deployed('v2'), previous: [] }]),
  );
  const stopped = { since: '2026-05-04T10:00:00.000Z', by: 'ada', reason: null, instances: ['us'] };
  const { stdout } = await list(rootWith({ shop: { instances, stopped } }));
  assert.equal(stdout.split('\n').slice(1), [
    'shop  ok       eu        v2       2026-05-04 09:30  acme/shop#main',
    'shop  stopped  us        v2       2026-05-04 09:30  acme/shop#main',
    '',
  ]);
});

test('a running instance is ok next to a broken one', async () => {
  const broken = { since: '2026-05-04T10:00:00.000Z', reason: 'start: it ended' };
  const instances = {
    eu: { current: deployed('v2'), previous: [] },
    us: { current: deployed('v2'), previous: [], broken },
  };
  const root = rootWith({ shop: { instances } });
  assert.equal((await list(root)).stdout.split('\n').slice(1), [
    'shop  ok      eu        v2       2026-05-04 09:30  acme/shop#main',
    'shop  broken  us        v2       2026-05-04 09:30  acme/shop#main',
    '',
  ]);
  assert.is(JSON.parse((await list(root, '--json')).stdout).apps[0].state, 'broken');
});

test('an instance stopped by an operator is stopped next to a broken one', async () => {
  const broken = { since: '2026-05-04T10:00:00.000Z', reason: 'start: it ended' };
  const instances = {
    eu: { current: deployed('v2'), previous: [] },
    us: { current: deployed('v2'), previous: [], broken },
  };
  const stopped = { since: '2026-05-04T10:00:00.000Z', by: 'ada', reason: null, instances: ['eu'] };
  const { stdout } = await list(rootWith({ shop: { instances, stopped } }));
  assert.match(stdout, /\nshop {2}stopped {2}eu .*\nshop {2}broken {3}us /);
});

test('without any app it says how to begin, and names a root that does not exist', async () => {
  for (const [root, none] of [
    [temporaryFolder('list'), 'No apps yet'],
    ['/none/such', 'No apps yet: /none/such does not exist'],
  ] as const) {
    const { status, stdout, stderr } = await list(root);
    assert.is(stdout, `${none}. Register one with: runner add <owner/name>\n`);
    assert.equal([status, stderr], [0, '']);
    const json = await list(root, '--json');
    assert.is(json.stdout, '{"count":0,"apps":[],"unreadable":[]}\n');
    const missing = 'runner list: the root /none/such does not exist\n';
    assert.equal([json.status, json.stderr], [0, root === '/none/such' ? missing : '']);
  }
});

test('JSON has the whole summary of each app, and never the sealed token', async () => {
  const more = {
    instances: { default: { current: deployed('v2'), previous: [] } },
    failures: failures(1),
    state: { repohost_token: 'sealed.value' },
    created_at: '2026-05-01T00:00:00.000Z',
    updated_at: '2026-05-04T00:00:00.000Z',
    preview: null,
    last_checked: '2026-05-05T00:00:00.000Z',
  };
  const { status, stdout, stderr } = await list(rootWith({ shop: more }), '--json');
  assert.equal(JSON.parse(stdout), {
    count: 1,
    apps: [
      {
        app: 'shop',
        repo: 'acme/shop',
        branch: 'main',
        token: true,
        state: 'failing',
        instances: [
          {
            instance: 'default',
            current: deployed('v2'),
            url: null,
            active_since: '2026-05-04T09:30:12.345Z',
            active_by: null,
            running: null,
            stopped: false,
            broken: null,
            previous: [],
          },
        ],
        failures: failures(1),
        last_failure: null,
        max_deploy_retries: 3,
        held: null,
        stopped: null,
        paused: null,
        traffic_hold: null,
        deploying: null,
        lock: null,
        next: '1 of 3 attempts used; the next fetch --deploy tries again',
        last_checked: '2026-05-05T00:00:00.000Z',
        behind_since: null,
        certificates: {},
        watch: null,
        watched: null,
        migration: null,
        jobs: [],
        check_failed: null,
        created_at: '2026-05-01T00:00:00.000Z',
        updated_at: '2026-05-04T00:00:00.000Z',
        preview: null,
        tags: null,
        paths: null,
        require_signed: null,
        deploy_file: null,
        plans: [],
        migration_left: null,
      },
    ],
    unreadable: [],
  });
  assert.equal([status, stderr], [0, '']);
});

test('YAML holds the same as JSON', async () => {
  const { stdout } = await list(rootWith({ a: {} }), '-o', 'yaml');
  assert.is(
    stdout,
    `count: 1
apps:
  - app: a
    repo: acme/a
    branch: main
    tags: null
    paths: null
    token: false
    require_signed: null
    deploy_file: null
    state: new
    instances: []
    failures: null
    last_failure: null
    max_deploy_retries: 3
    held: null
    stopped: null
    paused: null
    traffic_hold: null
    deploying: null
    lock: null
    next: "the next fetch --deploy; or run: runner deploy a"
    last_checked: null
    behind_since: null
    certificates: {}
    watch: null
    watched: null
    migration_left: null
    migration: null
    jobs: []
    plans: []
    check_failed: null
    created_at: ""
    updated_at: ""
    preview: null
unreadable: []
`,
  );
});

test('the configuration decides how many failures block, and is read only when one failed', async () => {
  const root = rootWith({ c: { failures: failures(2) } });
  writeFileSync(join(root, 'config.yml'), 'max_deploy_retries: 2\n');
  assert.is(JSON.parse((await list(root, '--json')).stdout).apps[0].state, 'blocked');
  writeFileSync(join(root, 'config.yml'), 'max_deploy_retries: many\n');
  const wrong = await list(root);
  assert.equal(
    [wrong.status, wrong.stdout, wrong.stderr],
    [
      1,
      '',
      `runner list: ${root}/config.yml:1: max_deploy_retries: must be a whole number from 1 to 1000 (config_invalid)\n`,
    ],
  );
  const good = rootWith({ b: { instances: running('v2') } });
  writeFileSync(join(good, 'config.yml'), 'max_deploy_retries: many\n');
  assert.is((await list(good)).status, 0);
});

/** Damaged state files, and what is printed about each. */
const DAMAGED: Readonly<Record<string, [object | string, string]>> = {
  'cut off': ['{"version":1,"app":', 'is not JSON'],
  empty: ['', 'is not JSON'],
  'a list': ['[]', 'is not an object'],
  'another app': ['{"app":"shop","repo":"o/r","branch":"main"}', 'names another app'],
  'no branch': ['{"repo":"o/r"}', 'has no text in branch'],
  'a version without its time': [
    { instances: { default: { current: deployed('v1', { deployed_at: undefined }) } } },
    'has a malformed instance',
  ],
  'a release that is a path': [
    { instances: { default: { current: deployed('v1', { release: '../../etc' }) } } },
    'has a malformed instance',
  ],
  'a count that is a text': [
    { failures: { ...failures(1), count: '1' } },
    'has a malformed section',
  ],
  'a deploy without a process': [
    { deploying: { ...DEPLOYING, pid: undefined } },
    'has a malformed section',
  ],
  'held by nobody': [{ held: { commit: COMMIT } }, 'has a malformed section'],
};

for (const [what, [more, why]] of Object.entries(DAMAGED)) {
  test(`a damaged state file (${what}) is named and hides no other app`, async () => {
    const root = rootWith({ bad: more, good: {} });
    const { status, stdout, stderr } = await list(root);
    assert.is(
      stderr,
      `runner list: the state file ${root}/state/bad.json ${why} (state_malformed)\n`,
    );
    assert.match(stdout, /\ngood .* new .* acme\/good#main\n$/);
    assert.is(status, 1);
    const json = JSON.parse((await list(root, '--json')).stdout);
    assert.equal([json.count, json.unreadable], [1, ['bad']]);
  });
}

test('a root whose apps can all not be read is not an empty one', async () => {
  const root = rootWith({ bad: '{', newer: '{"version":3}' });
  const { status, stdout, stderr } = await list(root);
  assert.is(stdout, 'APP  STATE  INSTANCE  VERSION  SINCE (UTC)  SOURCE\n');
  assert.is(
    stderr,
    `runner list: the state file ${root}/state/bad.json is not JSON (state_malformed)\nrunner list: the state file ${root}/state/newer.json was written by a newer runner (state_unsupported)\n`,
  );
  assert.is(status, 1);
});

const HOSTILE = {
  branch: 'ma\u001b[2Jin\n',
  instances: { 'eu\u202e': { current: deployed('v\u001b]0;owned\u0007\u009b31m'), previous: [] } },
};

test('the content of a state file cannot control the terminal', async () => {
  const root = rootWith({ shop: HOSTILE });
  const { stdout } = await list(root);
  assert.is(
    stdout.split('\n')[1],
    'shop  ok     eu\\u202e  v\\x1b]0;owned\\x07\\x9b31m  2026-05-04 09:30  acme/shop#ma\\x1b[2Jin\\n',
  );
  for (const format of ['json', 'yaml']) {
    const formatted = await list(root, '-o', format);
    assert.not.match(formatted.stdout, /[\u001b\u0007\u009b\u202e]/, format);
  }
});

test('an app name of many digits or 63 characters is shown as it is', async () => {
  const long = 'x'.repeat(63);
  const { stdout } = await list(rootWith({ '007': {}, '12e4567': {}, [long]: {} }));
  const names = stdout.split('\n').map((line) => line.split(' ')[0]);
  assert.equal(names, ['APP', '007', '12e4567', long, '']);
});

/** The lines that a terminal of 80 columns receives. */
async function onTerminal(root: string): Promise<string[]> {
  const { text } = await runOnTerminal('runner-list', [], { root, env: { NO_COLOR: '1' } });
  return text.split('\r\n');
}

test('on a terminal a long line is cut, not wrapped; in a pipe it is whole', async () => {
  const root = rootWith({
    'a-shop-with-a-long-name': { branch: 'feature/日本語/a-long-branch-name' },
  });
  const shown = await onTerminal(root);
  assert.is(shown.length, 3);
  assert.is([...(shown[1] ?? '')].length, 80);
  assert.match(shown[1] ?? '', / acme\/a-shop.*…$/);
  assert.match((await list(root)).stdout, 'feature/日本語/a-long-branch-name\n');
  // Ordinary names fit.
  const ordinary = await onTerminal(rootWith(EVERY_STATE));
  assert.ok(ordinary.every((line) => line.length <= 80 && !line.includes('…')));
});

test('each state has a colour and is visible on a narrow terminal', async () => {
  const { stdout } = await list(rootWith(EVERY_STATE), '--color', 'always');
  const lines = stdout.split('\n').slice(1, -1);
  assert.equal(
    lines.map((each) => /^. {4}(\u001b\[\d+m\w+\u001b\[39m) +(?:-|default) /.exec(each)?.[1]),
    [
      '\u001b[33mnew\u001b[39m',
      '\u001b[32mok\u001b[39m',
      '\u001b[31mfailing\u001b[39m',
      '\u001b[31mblocked\u001b[39m',
      '\u001b[33mheld\u001b[39m',
      '\u001b[36mdeploying\u001b[39m',
      '\u001b[33mnew\u001b[39m',
      '\u001b[31minterrupted\u001b[39m',
    ],
  );
});

test('nothing is written', async () => {
  const root = rootWith(EVERY_STATE);
  const before = tree(root, { modes: true });
  await list(root);
  await list(root, '--json');
  assert.equal(tree(root, { modes: true }), before);
});

test.run();
