/**
 * Fifty secrets of an app, with newlines, quotes, `$`, `=` and 64 KiB: the app has them byte for byte,
 * and no command shows or keeps one, when it succeeds and when it fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchProcesses } from '@runner/testing/proc-watch';
import { randomOf } from '@runner/testing/random';
import { type Ended, run } from '@runner/testing/run';
import { findSecret } from '@runner/testing/secret-search';
import { pathsBelow } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startPm2 } from '../deploys/pm2.ts';
import { makeWorld, type World } from '../deploys/world.ts';

const test = suite('secrets of apps');

const PIECES = [
  '\n',
  '"',
  "'",
  '$',
  '$HOME',
  '=',
  '\\',
  '\\n',
  ' ',
  '`id`',
  '#',
  '%',
  'ü',
  '🦊',
  '\t',
  '{}',
  '&',
];

/** Each line is long enough to be redacted, as only such values are. */
function values(): Map<string, string> {
  const random = randomOf(17);
  const word = () =>
    Array.from({ length: 14 }, () => Math.floor(random() * 36).toString(36)).join('');
  const line = (at: number) => `Pl4nted${at}${word()}`;
  const all = Array.from({ length: 50 }, (_, at) => {
    const pieces = Array.from(
      { length: 1 + (at % 4) },
      () => PIECES[Math.floor(random() * PIECES.length)],
    );
    const value = pieces.map((piece) => `${piece}${line(at)}`).join('');
    return at % 25 === 24 ? `${line(at)}${'x'.repeat(65_000)}` : value;
  });
  return new Map(all.map((value, at) => [`SECRET_${at}`, value]));
}

const VALUES = values();
/** What is looked for: each line. */
const LINES = [...VALUES.values()].flatMap((value) =>
  value.split('\n').filter((line) => line.length > 12),
);
const NEEDLES = LINES.map((line) => line.slice(0, 400));

const DUMP = 'mkdir -p "$RUNNER_SHARED"; cat /proc/self/environ > "$RUNNER_SHARED/environ"';
/** Prints all of its environment, in several ways. */
const PRINT = 'env; env -0; export -p; env >&2';

function checkEnvironment(world: World, what: string): void {
  const text = readFileSync(join(world.root, 'apps/shop/instances/default/shared/environ'), 'utf8');
  const known = new Map(text.split('\0').map((entry) => [entry.split('=', 1)[0], entry]));
  for (const [name, value] of VALUES)
    assert.is(known.get(name), `${name}=${value}`, `${name} ${what}`);
}

function checkOutput(what: string, { stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): void {
  const text = stdout + stderr;
  const shown = NEEDLES.filter(
    (needle) => text.includes(needle) || text.includes(JSON.stringify(needle).slice(1, -1)),
  );
  assert.equal(shown, [], what);
}

/** Everything below the root but what the app itself writes. */
function checkFiles(folder: string, what: string): void {
  for (const path of pathsBelow(folder)) {
    if (/\/shared\/|\/run\/output\.log/.test(path)) continue;
    let content = Buffer.alloc(0);
    try {
      content = readFileSync(join(folder, path));
    } catch {
      continue; // A folder, or a link to nothing.
    }
    const found = NEEDLES.flatMap((needle) => findSecret(content, needle));
    assert.equal(found, [], `${path} ${what}`);
  }
}

/** One driver: its `.deploy.yml`, and the environment that its client needs. */
interface Variant {
  readonly name: string;
  readonly start: (port: number) => string;
  readonly files: Record<string, string>;
  readonly env: Record<string, string>;
  readonly end: () => Promise<void>;
}

async function story(world: World, { start, files, env }: Variant): Promise<number> {
  const { root } = world;
  let commands = 0;
  const type = async (words: readonly string[], stdin = ''): Promise<Ended> => {
    const [tool = '', ...args] = words;
    const done = await run(`runner-${tool}`, args, { root, stdin, env });
    commands += 1;
    checkOutput(words.join(' '), done);
    return done;
  };
  const deploy = async (version: string, more: string, status: number, ...args: string[]) => {
    await world.push(version, { deploy: `${start(world.port)}\n${more}\n`, files });
    const done = await type(['deploy', 'shop', ...args]);
    assert.is(done.status, status, `${version}: ${done.stderr.slice(-2_000)}`);
  };
  for (const [name, value] of VALUES)
    assert.is((await type(['env', 'set', 'shop', name, '--file', '-'], value)).status, 0, name);
  const health = `health: { url: "http://127.0.0.1:\${PORT}/health", interval: 50ms, within: 60s }`;
  await deploy(
    'v1',
    `${health}\nhooks: { pre_switch: "${PRINT}", post_deploy: "${PRINT}" }`,
    0,
    '--verbose',
  );
  checkEnvironment(world, 'after the first deploy');
  await deploy('v2', health, 0, '--json');
  const bad = [
    'build: { run: "PRINT; exit 3", env: [SECRET_0, SECRET_1, SECRET_24] }',
    'hooks: { pre_switch: "PRINT; exit 3" }',
    'health: { cmd: "PRINT; exit 3", interval: 50ms, within: 300ms }',
  ];
  for (const [at, more] of bad.entries())
    for (const args of [['--verbose'], ['--json']])
      await deploy(`bad${at}${args[0]}`, more.replace('PRINT', PRINT), 1, ...args);
  for (const words of [
    ['debug', 'last-error', 'shop'],
    ['debug', 'last-error', 'shop', '--json'],
    ['debug', 'log', 'shop'],
    ['debug', 'log', 'shop', '--raw'],
    ['audit', 'list', '--json'],
    ['history', 'shop'],
    ['status', 'shop'],
    ['status', 'shop', '--json'],
    ['list', '--json'],
    ['doctor', '--offline'],
    ['env', 'list', 'shop'],
    ['env', 'list', 'shop', '--json'],
    ['env', 'files', '--json'],
    ['env', 'set', 'shop', 'NOT-A-NAME', '--file', '-'],
    ['env', 'unset', 'shop', 'NONE'],
    ['restart', 'shop'],
    ['stop', 'shop', '--reason', 'test'],
    ['start', 'shop'],
    ['rollback', 'shop'],
    ['tokens', 'rekey'],
    ['pause', 'shop'],
    ['resume', 'shop'],
    ['fetch', '--deploy'],
    ['logs', 'shop'],
    ['logs', 'shop', '--json', '-n', '1000'],
    ['changes', 'shop'],
    ['stats'],
    ['prune', '--dry-run'],
    ['tokens', 'list'],
    ['edit', 'shop', '--branch', 'main'],
  ])
    await type(words, VALUES.get('SECRET_3'));
  const dotenv = [...VALUES].map(([name, value]) => `${name}='${value}' broken`).join('\n');
  assert.is.not((await type(['env', 'import', 'shop'], dotenv)).status, 0);
  checkEnvironment(world, 'after the rollback');
  checkFiles(root, 'under the root');
  const removed = await type(['remove', 'shop', '--yes']);
  assert.is(removed.status, 0, removed.stderr);
  return commands;
}

async function play(variant: Variant): Promise<void> {
  const world = await makeWorld();
  let commands = 0;
  const { sightings } = await watchProcesses(NEEDLES, async () => {
    commands = await story(world, variant);
  });
  const inArguments = sightings.filter(({ where }) => where === 'argv');
  assert.equal(inArguments, []);
  await variant.end();
  await world.close();
  process.stdout.write(`(${commands} commands with ${VALUES.size} values: ${variant.name})\n`);
}

const INSTANCE = (port: number) =>
  `instances: { default: { env: { PORT: "${port}" } } }\nshared: [kept/]`;

test('with start.type process', () =>
  play({
    name: 'process',
    start: (port) =>
      `${INSTANCE(port)}\nstart: { type: process, run: ${JSON.stringify(`${DUMP}; exec node server.js`)} }`,
    files: {},
    env: {},
    end: async () => {},
  }));

test('with start.type pm2', async () => {
  const { env, kill } = await startPm2();
  await play({
    name: 'pm2',
    start: (port) => `${INSTANCE(port)}\nstart: { type: pm2, run: app.js }`,
    files: {
      'app.js': `const { mkdirSync, copyFileSync, readFileSync, writeFileSync } = require('node:fs');
mkdirSync(process.env.RUNNER_SHARED, { recursive: true });
const entries = Object.entries(process.env).map(([name, value]) => name + '=' + value);
writeFileSync(process.env.RUNNER_SHARED + '/environ', entries.join('\\0'));
require('./server.js');`,
    },
    env: env(),
    end: async () => {
      checkFiles(String(env().PM2_HOME), 'of pm2');
      await kill();
    },
  });
});

test.run();
