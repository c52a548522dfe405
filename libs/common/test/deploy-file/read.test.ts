import { type DeployFile, readDeployFile } from '@runner/common/deploy-file/read';
import { nextTimes } from '@runner/common/deploy-file/schedule';
import { HOOKS } from '@runner/common/deploy-file/schema';
import { Failure } from '@runner/common/foundation/failure';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';

const read = (text: string) => readDeployFile(Buffer.from(text));

const NO_LIMITS = { memory: undefined, cpu: undefined, network: true };

const DEFAULTS: DeployFile = {
  instances: [{ name: 'default', domain: undefined, env: {} }],
  build: {
    run: [],
    timeout: 1_800_000,
    env: [],
    limits: NO_LIMITS,
  },
  minPackageAge: 0,
  start: { type: 'none' },
  stop: undefined,
  logs: undefined,
  health: undefined,
  watch: undefined,
  canary: [],
  migrate: undefined,
  jobs: [],
  keep: 5,
  shared: [],
  hooks: { pre_build: [], post_build: [], pre_switch: [], post_deploy: [], on_failure: [] },
  hookTimeout: 60_000,
  hookNetwork: true,
  notify: 'none',
  preview: { run: undefined, database: undefined },
};

/** What a job has if its section does not say otherwise. */
const JOB = {
  instance: undefined,
  network: true,
  timeout: 3_600_000,
  overlap: 'skip',
  on: 'each',
  retry: 0,
  duringDeploy: 'continue',
  catchUp: false,
};

test('no file, an empty file or only comments: the commit is checked out and no notification is sent', () => {
  assert.equal(readDeployFile(undefined), DEFAULTS);
  for (const text of ['', '\n', '# nothing\n', '---\n']) assert.equal(read(text), DEFAULTS);
});

test('a list of one may be a single value', () => {
  const lists =
    'build: { run: [make], env: [TOKEN] }\nshared: [.env]\nnotify: { channel: [slack] }\n';
  const single = 'build: { run: make, env: TOKEN }\nshared: .env\nnotify: { channel: slack }\n';
  assert.equal(read(single), read(lists));
});

test('a whole file is read as it is meant', () => {
  const file = read(`# how the shop is deployed
instances:
  eu: { domain: eu.shop.example, env: { PORT: 3000, NAME: "x y", BIG: 12345678901234567890 } }
build: { run: [npm ci, npm run build], timeout: 5m }
start: { type: process, run: node server.js, timeout: 20s, stop_timeout: 3s }
health: { url: "http://127.0.0.1:\${PORT}/health", expect: 200-204, interval: 250ms, timeout: 2, within: 1m }
watch:
  for: 10m
  policy: report
  errors: 2%
  latency: 3x
  run: ./smoke
  access_log: /var/log/nginx/shop.log
  query: { url: "http://127.0.0.1:9090", expr: up == 0 }
jobs:
  nightly: { run: ./nightly, at: [03:00, sat-sun 15:30], zone: Europe/Berlin, timeout: 2h, retry: 2, overlap: wait }
  sync: { run: ./sync, every: 15m, instance: eu, during_deploy: kill, catch_up: true }
  clean: { run: ./clean, after: deploy }
keep: 2
shared: [.env, uploads/, deep/er/file.txt]
hooks: { pre_build: ./prepare, on_failure: [one, two], timeout: 5s }
notify: { channel: discord }
`);
  assert.equal(file, {
    instances: [
      {
        name: 'eu',
        domain: 'eu.shop.example',
        env: { PORT: '3000', NAME: 'x y', BIG: '12345678901234567890' },
      },
    ],
    build: { run: ['npm ci', 'npm run build'], timeout: 300_000, env: [], limits: NO_LIMITS },
    minPackageAge: 0,
    start: { type: 'process', run: 'node server.js', timeout: 20_000, stopTimeout: 3_000 },
    stop: undefined,
    logs: undefined,
    health: {
      kind: 'url',
      target: 'http://127.0.0.1:${PORT}/health',
      expect: [200, 204],
      interval: 250,
      timeout: 2000,
      within: 60_000,
    },
    watch: {
      for: 600_000,
      policy: 'report',
      errors: 0.02,
      latency: 3,
      logs: true,
      run: './smoke',
      accessLog: '/var/log/nginx/shop.log',
      haproxy: undefined,
      query: { url: 'http://127.0.0.1:9090', expr: 'up == 0' },
    },
    canary: [],
    migrate: undefined,
    jobs: [
      {
        ...JOB,
        name: 'nightly',
        run: './nightly',
        schedule: {
          kind: 'times',
          patterns: ['0 3 * * *', '30 15 * * sat-sun'],
          zone: 'Europe/Berlin',
        },
        when: 'at 03:00, sat-sun 15:30 Europe/Berlin',
        timeout: 7_200_000,
        overlap: 'wait',
        retry: 2,
      },
      {
        ...JOB,
        name: 'sync',
        run: './sync',
        schedule: { kind: 'every', ms: 900_000 },
        when: 'every 15m',
        instance: 'eu',
        duringDeploy: 'kill',
        catchUp: true,
      },
      {
        ...JOB,
        name: 'clean',
        run: './clean',
        schedule: { kind: 'deploy' },
        when: 'after each deploy',
      },
    ],
    keep: 2,
    shared: [
      { path: '.env', folder: false },
      { path: 'uploads', folder: true },
      { path: 'deep/er/file.txt', folder: false },
    ],
    hooks: { ...DEFAULTS.hooks, pre_build: ['./prepare'], on_failure: ['one', 'two'] },
    hookTimeout: 5_000,
    hookNetwork: true,
    notify: 'discord',
    preview: { run: undefined, database: undefined },
  });
});

test('several instances keep the order of the file, each with its domain and environment', () => {
  const { instances } = read(
    'instances:\n  us: { domain: us.shop.example:8443 }\n  eu: { env: { A: b } }\n',
  );
  assert.equal(instances, [
    { name: 'us', domain: 'us.shop.example:8443', env: {} },
    { name: 'eu', domain: undefined, env: { A: 'b' } },
  ]);
});

test('errors that would only show after the switch are refused before it', () => {
  for (const [text, sentence] of [
    [
      'instances: {a: {}, b: {}}\nshared: [.env]\n',
      ':2: shared: only works with a single instance: all instances use the same release',
    ],
    [
      'health: {url: "http://${NOPE}/"}\n',
      ':1: health.url: uses ${NOPE}, which the env of default does not set',
    ],
    ['build: "a\\0b"\n', ':1: build: must not contain a NUL character'],
  ] as const) {
    assert.is(
      told(() => read(text)),
      `deploy_file_invalid: .deploy.yml${sentence}`,
    );
  }
});

test('build is a command, a list of them or a section', () => {
  const build = (text: string) => {
    const { limits, ...rest } = read(text).build;
    assert.equal(limits, NO_LIMITS);
    return rest;
  };
  assert.equal(build('build: make\n'), { run: ['make'], timeout: 1_800_000, env: [] });
  assert.equal(build('build: [make, make check]\n'), {
    run: ['make', 'make check'],
    timeout: 1_800_000,
    env: [],
  });
  assert.equal(build('build: []\n'), { run: [], timeout: 1_800_000, env: [] });
  assert.equal(build('build:\n  run: make\n  timeout: 1h\n'), {
    run: ['make'],
    timeout: 3_600_000,
    env: [],
  });
  assert.equal(build('build: {timeout: 90}\n'), { run: [], timeout: 90_000, env: [] });
  assert.is(build('build: {timeout: 700h}\n').timeout, 2_147_483_647);
  assert.equal(build('build:\n'), { run: [], timeout: 1_800_000, env: [] });
  assert.equal(build('build: |\n  make\n  make check\n').run, ['make\nmake check\n']);
});

test('a key without a value says nothing', () => {
  const text = `${['instances', 'build', 'start', 'stop', 'health', 'keep', 'shared', 'hooks'].map((key) => `${key}:\n`).join('')}`;
  const said = told(() => read(text));
  assert.is(said, 'deploy_file_invalid: .deploy.yml:3: start: needs the key type');
  assert.equal(read('build:\nstop:\nkeep:\nshared:\ninstances:\nhooks:\n'), DEFAULTS);
});

test('notify selects one channel, all of them, or none', () => {
  for (const [text, choice] of [
    ['keep: 1\n', 'none'],
    ['notify: {}\n', 'all'],
    ['notify:\n', 'all'],
    ['notify: {channel: both}\n', 'both'],
    ['notify: {channel: }\n', 'all'],
    ['notify: {channel: telegram}\n', 'telegram'],
    ['notify: {channel: discord}\n', 'discord'],
    ['notify: {channel: [discord, slack]}\n', 'discord,slack'],
    ['notify: {channel: []}\n', 'none'],
  ] as const) {
    assert.is(read(text).notify, choice, text);
  }
});

test('variables can have names such as __proto__', () => {
  const [first, second] = read(
    'instances:\n  prod: {env: {toString: "1", __proto__: "2"}}\n  prod-1.eu:\n',
  ).instances;
  assert.is(first?.name, 'prod');
  assert.equal(Object.entries(first?.env ?? {}), [
    ['toString', '1'],
    ['__proto__', '2'],
  ]);
  assert.is(second?.name, 'prod-1.eu');
});

test('health says what answers, and what answer is healthy', () => {
  const expect = (text: string) =>
    read(`health: {url: "http://x/", expect: ${text}}`).health?.expect;
  assert.equal(expect('204'), [204, 204]);
  assert.equal(expect('"301"'), [301, 301]);
  assert.equal(expect('200-399'), [200, 399]);
  assert.equal(read('health: {cmd: ./check}\n').health?.kind, 'cmd');
  const withPort = 'instances: {a: {env: {PORT: 1}}}\nhealth: {tcp: "localhost:${PORT}"}\n';
  assert.equal(read(withPort).health?.target, 'localhost:${PORT}');
  assert.equal(read('health: {tcp: "x:1"}\n').health, {
    kind: 'tcp',
    target: 'x:1',
    expect: [200, 299],
    interval: 1000,
    timeout: 5000,
    within: 30_000,
  });
});

const TIME = 'must be a time like 500ms, 30s, 5m or 1h';
const STARTED = 'start: { type: process, run: node server.js }\n';

const BAD: readonly (readonly [text: string, sentence: string])[] = [
  ['- a\n', ':1: must be a section, not a list'],
  ['\nhello\n', ':2: must be a section, not a single value'],
  [
    'keep: 5\nbiuld: make\n',
    ':2: biuld: unknown key (known here: instances, build, min_package_age, start, stop, logs, health, traffic, watch, canary, migrate, jobs, keep, shared, hooks, preview, notify)',
  ],
  [
    '__proto__: 1\n',
    ':1: __proto__: unknown key (known here: instances, build, min_package_age, start, stop, logs, health, traffic, watch, canary, migrate, jobs, keep, shared, hooks, preview, notify)',
  ],
  [
    'build: {cmd: make}\n',
    ':1: build.cmd: unknown key (known here: run, env, timeout, memory, cpu, network)',
  ],
  ['build: 5\n', ':1: build: must be a command'],
  ['build: ""\n', ':1: build: must not be empty'],
  ['build:\n  - make\n  - ""\n', ':3: build[1]: must not be empty'],
  ['build:\n  - make\n  - true\n', ':3: build[1]: must be a command'],
  ['build:\n  - [make]\n', ':2: build[0]: must be a single value, not a list'],
  ['build: {timeout: soon}\n', `:1: build.timeout: ${TIME}`],
  ['build: {timeout: 1.5}\n', `:1: build.timeout: ${TIME}`],
  ['build: {timeout: -5}\n', `:1: build.timeout: ${TIME}`],
  ['build: {timeout: 1d}\n', `:1: build.timeout: ${TIME}`],
  ['build: {timeout: 0}\n', ':1: build.timeout: must be longer than 0'],
  ['build:\n  timeout: 00h\n', ':2: build.timeout: must be longer than 0'],
  [
    'health:\n  cmd: x\n  interval: 0\n  timeout: 5s\n',
    ':3: health.interval: must be longer than 0',
  ],
  ['health:\n  cmd: x\n  timeout: 0s\n', ':3: health.timeout: must be longer than 0'],
  ['health:\n  cmd: x\n  within: 0ms\n', ':3: health.within: must be longer than 0'],
  ['start: {type: process, run: x, timeout: 0m}\n', ':1: start.timeout: must be longer than 0'],
  ['build: {timeout: 1234567890}\n', ':1: build.timeout: is too long: the maximum is 24 days'],
  ['build: {timeout: 9999999999h}\n', ':1: build.timeout: is too long: the maximum is 24 days'],
  ['start: node x.js\n', ':1: start: must be a section, not a single value'],
  ['start: {run: x}\n', ':1: start: needs the key type'],
  [
    'start: {type: docker}\n',
    ':1: start.type: must be one of process, command, systemd, compose, pm2, none',
  ],
  ['keep: 1\nstart: {type: process}\n', ':2: start: type process needs the key run'],
  ['start: {type: none, run: x}\n', ':1: start.run: does not go with type none'],
  ['keep: 1\nstop: x\n', ':2: stop: only works with start.type command'],
  ['start: {type: process, run: x}\nstop: x\n', ':2: stop: only works with start.type command'],
  ['health:\n  url: ftp://x\n', ':2: health.url: must be an http or https address'],
  ['health: {tcp: 8080}\n', ':1: health.tcp: must be host:port'],
  ['health: {tcp: "a b:1"}\n', ':1: health.tcp: must be host:port'],
  ['health: {cmd: }\n', ':1: health: needs one of url, cmd, tcp'],
  [
    'keep: 1\nhealth: {cmd: x, tcp: "x:1"}\n',
    ':2: health: accepts only one of url, cmd, tcp, not cmd and tcp',
  ],
  ['health: {tcp: "x:99999"}\n', ':1: health.tcp: must end with a port from 1 to 65535'],
  ['health: {tcp: "x:0"}\n', ':1: health.tcp: must end with a port from 1 to 65535'],
  [
    'instances: {a: {env: {P: 70000}}}\nhealth: {tcp: "x:${P}"}\n',
    ':2: health.tcp: must end with a port from 1 to 65535',
  ],
  [
    'health: {url: "http://x", expect: 99}\n',
    ':1: health.expect: must be an HTTP status like 200, or a range like 200-299',
  ],
  [
    'health: {url: "http://x", expect: 200-}\n',
    ':1: health.expect: must be an HTTP status like 200, or a range like 200-299',
  ],
  ['health: {url: "http://x", expect: 300-200}\n', ':1: health.expect: ends before it begins'],
  [
    'health: {url: "http://x", retries: 5}\n',
    ':1: health.retries: unknown key (known here: url, cmd, tcp, expect, interval, timeout, within)',
  ],
  ['keep: 0\n', ':1: keep: must be a whole number from 1 to 1000'],
  ['keep: many\n', ':1: keep: must be a whole number from 1 to 1000'],
  ['shared: { path: .env }\n', ':1: shared: must be a list, not a section'],
  ['shared: [5]\n', ':1: shared[0]: must be a text (put it in quotes)'],
  ['shared: [""]\n', ':1: shared[0]: must not be empty'],
  ...[
    '/etc/passwd',
    '../x',
    'a/../../x',
    '.',
    './x',
    'a//b',
    '..',
    '/',
    '.git',
    'a/.git/config',
    '.git/',
  ].map(
    (path) =>
      [
        `keep: 1\nshared: ["${path}"]\n`,
        ':2: shared: has a path that leads out of the release',
      ] as const,
  ),
  [
    'hooks: {pre_deploy: x}\n',
    `:1: hooks.pre_deploy: unknown key (known here: ${HOOKS.join(', ')}, timeout, network)`,
  ],
  ['hooks: {pre_build: {run: x}}\n', ':1: hooks.pre_build: must not be a section'],
  ['notify: telegram\n', ':1: notify: must be a section, not a single value'],
  [
    'notify: {channel: mail}\n',
    ':1: notify.channel: must be one of telegram, discord, slack, ntfy, email, webhook, both',
  ],
  ['notify: {chanel: both}\n', ':1: notify.chanel: unknown key (known here: channel)'],
  ['instances: [a]\n', ':1: instances: must be a section, not a list'],
  ['instances:\n  ../x: {}\n', ':2: instances.../x: is not a valid name'],
  ['instances:\n  "a b":\n', ':2: instances.a b: is not a valid name'],
  ['instances:\n  __proto__: {}\n', ':2: instances.__proto__: is not a valid name'],
  ['instances:\n  toString: {}\n', ':2: instances.toString: is not a valid name'],
  [
    'instances:\n  a: {port: 1}\n',
    ':2: instances.a.port: unknown key (known here: domain, env, traffic, ports)',
  ],
  ['instances:\n  a:\n    domain: a b\n', ':3: instances.a.domain: must be a domain name'],
  ['instances: { a: { domain: -d.example } }\n', ':1: instances.a.domain: must be a domain name'],
  ['instances:\n  a:\n    env: {A-B: 1}\n', ':3: instances.a.env.A-B: is not a valid name'],
  [
    'instances:\n  a:\n    env: {A: true}\n',
    ':3: instances.a.env.A: must be a text (put it in quotes)',
  ],
  [
    'instances:\n  a:\n    env: {A: [1]}\n',
    ':3: instances.a.env.A: must be a single value, not a list',
  ],
  ['instances:\n  "\\x1b[31m": {}\n', ':2: instances.\\x1b[31m: is not a valid name'],
  ['a: 1\na: 2\n', ':2: a: duplicate key'],
  [`${STARTED}watch: 25h\n`, ':2: watch: is too long: the maximum is 24h'],
  [`${STARTED}watch: 5s\n`, ':2: watch: is too short: the minimum is 10s'],
  [`${STARTED}watch: soon\n`, ':2: watch: must be a time like 500ms, 30s, 5m or 1h'],
  [`${STARTED}watch: { policy: report }\n`, ':2: watch: needs the key for'],
  [`${STARTED}watch: { for: 1m, errors: 80% }\n`, ':2: watch.errors: must be from 1% to 50%'],
  [
    `${STARTED}watch: { for: 1m, access_log: log }\n`,
    ':2: watch.access_log: must be an absolute path',
  ],
  [`${STARTED}watch:\n  for: 1m\n  errors: 1%\n`, ':4: watch.errors: needs access_log or haproxy'],
  [
    `${STARTED}watch: { for: 1m, latency: 3x, haproxy: { socket: /run/h, backend: b } }\n`,
    ':2: watch.latency: needs access_log',
  ],
  [
    `${STARTED}watch: { for: 1m, query: { url: "http://", expr: up } }\n`,
    ':2: watch.query.url: is not an address',
  ],
  ['migrate: { backup: ./dump }\n', ':1: migrate: needs the key run'],
  ['migrate: { run: x, backup: true }\n', ':1: migrate.backup: must be auto, a command, or false'],
  ['migrate: { run: x, backup: 5 }\n', ':1: migrate.backup: must be auto, a command, or false'],
  [
    'migrate: { run: x, database: "my url" }\n',
    ':1: migrate.database: must be the name of a variable',
  ],
  [`${STARTED}canary: [5%]\n`, ':2: canary: needs the section watch, which judges it'],
  [
    `${STARTED}watch: 1m\ncanary: [5%]\n`,
    ':3: canary: needs traffic of type socket, without overlap: false',
  ],
  [
    `${STARTED}health: { cmd: x }\ntraffic: { type: socket, overlap: false }\nwatch: 1m\ncanary: [5%]\n`,
    ':5: canary: needs traffic of type socket, without overlap: false',
  ],
  [`${STARTED}watch: 1m\ncanary: [7%]\n`, ':3: canary: takes multiples of 5%, from 5% to 95%'],
  [`${STARTED}watch: 1m\ncanary: [25%, 5%]\n`, ':3: canary: must ascend'],
  ['watch: 1m\n', ':1: watch: needs a start.type that starts the app'],
];

for (const [text, sentence] of BAD) {
  test(`\`${text.trim().replaceAll('\n', '⏎')}\` is refused with its line and key`, () => {
    assert.is(
      told(() => read(text)),
      `deploy_file_invalid: .deploy.yml${sentence}`,
    );
  });
}

const KEYS = [
  'instances',
  'build',
  'start',
  'stop',
  'health',
  'keep',
  'shared',
  'hooks',
  'notify',
  'run',
  'type',
  'timeout',
  'url',
  'cmd',
  'tcp',
  'expect',
  'channel',
  'env',
  'domain',
  'a',
  '__proto__',
  'pre_build',
  '',
];
const VALUES = [
  '1',
  'x',
  '',
  '~',
  '[]',
  '[a, b]',
  '{}',
  '{a: 1}',
  '30s',
  'true',
  'process',
  'command',
  'none',
  'both',
  'http://x',
  'x:1',
  '200-299',
  '|',
  '"',
  '../x',
  '1e999',
  '0x7fffffffffffffff',
];

test('any file is accepted, or refused with its own code', () => {
  const line = fc
    .tuple(
      fc.constantFrom('', '  ', '    ', '- '),
      fc.constantFrom(...KEYS),
      fc.oneof(fc.constantFrom(...VALUES), fc.string({ maxLength: 6 })),
    )
    .map(([indent, key, value]) => `${indent}${key}: ${value}`);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      try {
        read(lines.join('\n'));
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'deploy_file_invalid') throw error;
      }
    }),
    { numRuns: 300 },
  );
});

test('a range of days may go over the end of a week', () => {
  const next = (at: string) => {
    const [job] = read(`jobs: { a: { run: a, at: "${at}" } }\n`).jobs;
    const times = job ? nextTimes(job.schedule, new Date('2026-01-05T00:00:00Z'), 8) : [];
    return times.map((time) => time.getUTCDay());
  };
  assert.equal(next('fri-mon 07:30'), [1, 5, 6, 0, 1, 5, 6, 0]);
  assert.equal(next('sun-tue,thu 07:30'), [1, 2, 4, 0, 1, 2, 4, 0]);
  assert.equal(next('mon-sun 07:30'), [1, 2, 3, 4, 5, 6, 0, 1]);
});

test('a day of the month and one of the week: either is enough as in cron, unless one begins with *', () => {
  const next = (cron: string) => {
    const [job] = read(`jobs: { a: { run: a, cron: "${cron}" } }\n`).jobs;
    const times = job ? nextTimes(job.schedule, new Date('2026-11-01T00:00:00Z'), 4) : [];
    return times.map((time) => time.toISOString().slice(5, 10)).join(' ');
  };
  assert.is(next('0 0 4 * mon'), '11-02 11-04 11-09 11-16');
  assert.is(next('0 0 */2 * mon'), '11-09 11-23 12-07 12-21');
  assert.is(next('0 0 13 * */2'), '12-13 02-13 03-13 04-13');
  assert.is(next('0 0 */10 * *'), '11-11 11-21 12-01 12-11');
});

test('what is wrong with a job is named with line and key', () => {
  const problems = {
    '{ run: a }': ': needs one of at, every, cron and after',
    '{ run: a, every: 1m, at: "03:00" }': ': has at and every: only one of them works',
    '{ run: a, cron: "61 * * * *" }': ".cron: '61 * * * *' is not a schedule of cron's five fields",
    '{ run: a, cron: "0 0 0 * * *" }':
      ".cron: '0 0 0 * * *' is not a schedule of cron's five fields",
    '{ run: a, cron: "0 0 31 2 *" }': ".cron: '0 0 31 2 *' is never due",
    '{ run: a, at: [] }': '.at: must not be an empty list',
    '{ run: a, after: deploy, catch_up: true }':
      '.catch_up: does not work with after: no deploy is missed',
    '{ run: a, every: 90s }': '.every: must be whole minutes, from 1m to 24h',
    '{ run: a, every: 1m, zone: UTC }': '.zone: only works with at and cron',
    '{ run: a, at: "03:00", zone: Mars/Base }':
      ".zone: there is no time zone 'Mars/Base': write one like Europe/Berlin",
    '{ run: a, every: 1m, instance: eu }': ".instance: there is no instance 'eu'",
    '{ run: a, after: deploy, on: one }':
      '.on: does not work with after: each server has deploys of its own',
    '{ run: a, every: 1m, on: one, overlap: kill }':
      '.overlap: must be skip or wait with on: one: the run before may be on another server',
  };
  for (const [job, problem] of Object.entries(problems)) {
    const text = `keep: 2\njobs:\n  fine: { run: a, every: 1m }\n  a.b: ${job}\n`;
    assert.is(
      told(() => read(text)),
      `deploy_file_invalid: .deploy.yml:4: jobs.a.b${problem}`,
    );
  }
});

test.run();
