/** Text that comes from outside, through a whole deploy into log, terminal, Telegram and Discord. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hostileRecord } from '../../tools/runner-notify/test/hostile.ts';
import { must, record, type Server, startServer } from './server.ts';

const started = startServer();

/** What no human output may have: what moves a terminal or turns the direction of reading. */
const MOVES =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\u2028\u2029]/;

const FORGED = JSON.stringify(record('forged', { deploy_id: 'f0rged00' }));
/** Each is one attempt at one reader. */
const EVIL = [
  '\u001b[2J\u001b[1;1Hcleared\u001b]0;title\u0007\u001b]8;;http://evil\u0007link\u001b]8;;\u0007',
  '\u009b31mC1\u0085\u0090q\u009c',
  '\u202eesrever\u202c \u2066isolated\u2069 \u200f',
  '@everyone @here <@123456> <@&7> <#42> </run:1> @octo',
  '*bold* _under_ ||spoiler|| [text](http://evil.example) ~~x~~ `code` ```\nfence\n```',
  '<b>tag</b> &lt; <a href="tg://user?id=7">x</a>',
  '$' + '{ERROR} $' + '{PROJECT} $& $1 %s %n \\u001b[2J',
  'runner deploy: everything is fine\rrunner deploy: overwritten',
  `\n${FORGED}\n`,
  'e\u0301\u0323'.repeat(50),
  'x'.repeat(100_000),
].join('\n');

/** One object a line; throws for anything else. */
const objects = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Human output and JSON alike: no character that a terminal obeys. */
function isCalm(what: string, { stdout, stderr }: Ended): void {
  for (const text of [stdout, stderr]) {
    const found = MOVES.exec(text);
    assert.is(
      found,
      null,
      `${what}: ${JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 60)).slice(0, 120))}`,
    );
    assert.not.match(text, /^\s+at .*:\d+:\d+|this is a bug/m, what);
  }
}

/** All commands that show what a deploy has left, in both forms. */
const SHOWING = [
  ['runner-debug', 'last-error', 'shop'],
  ['runner-debug', 'log', 'shop'],
  ['runner-audit', 'tail', '-n', '1000'],
  ['runner-audit', 'list'],
  ['runner-audit', 'verify'],
  ['runner-status', 'shop'],
  ['runner-list'],
  ['runner-doctor', '--offline'],
  ['runner-notify', 'queue', 'list'],
] as const;

const FORMS = [[], ['--json'], ['--color', 'always']];

async function allAreCalm(root: string, forms: readonly string[][] = FORMS): Promise<void> {
  await Promise.all(SHOWING.map((line) => isCalmInForms(root, line, forms)));
}

async function isCalmInForms(
  root: string,
  [tool, ...args]: (typeof SHOWING)[number],
  forms: readonly string[][],
): Promise<void> {
  for (const form of forms) {
    const ended = await run(tool, [...args, ...form], { root });
    const what = [tool, ...args, ...form].join(' ');
    assert.ok([0, 1].includes(ended.status ?? -1), `${what}: ${ended.status} ${ended.stderr}`);
    // One object, or one a line.
    if (form[0] === '--json') objects(ended.stdout.replace(/^\{\n[\s\S]*\n\}\n$/, '{}'));
    // Colours are ours; nothing else that begins with an escape is.
    const own = (text: string) => text.replace(/\u001b\[[\d;]*m/g, '');
    const calm = { ...ended, stdout: own(ended.stdout), stderr: own(ended.stderr) };
    isCalm(what, form[0] === '--color' ? calm : ended);
  }
}

/** Messages in both chats since `from` ping no one, link nowhere and are accepted. */
function isQuiet({ bot, hook }: Server, from: readonly [bot: number, hook: number]): void {
  const [messages, posts] = [bot.messages.slice(from[0]), hook.messages.slice(from[1])];
  assert.ok(messages.length > 0 && posts.length > 0, `${messages.length}, ${posts.length}`);
  for (const { payload, entities, text } of messages) {
    assert.is(payload.parse_mode, 'MarkdownV2');
    const links = entities.filter(({ type }) => ['TextUrl', 'MentionName'].includes(type));
    assert.equal(links, []);
    // In code a mention or an address is plain text.
    const inCode = (at: number) =>
      entities.some(
        ({ type, offset, length }) =>
          ['Code', 'Pre', 'PreCode'].includes(type) && at >= offset && at < offset + length,
      );
    for (const match of text.matchAll(/@\w+|https?:\/\/|\/\w+@/g)) {
      assert.ok(inCode(match.index), `${match[0]} in ${text.slice(0, 300)}`);
    }
  }
  for (const { payload } of posts) assert.equal(payload.allowed_mentions, { parse: [] });
  for (const request of [...bot.requests, ...hook.requests]) assert.is.not(request.status, 400);
}

/** For deploys whose messages say nothing new: each waits for the rates of the chats. */
const SILENT = '--no-notify';

const counts = ({ bot, hook }: Server) => [bot.messages.length, hook.messages.length] as const;

function logOf(root: string): string {
  const path = join(root, 'logs/deploy-events.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Deploys what is at the head; its result, and what it added to the log, one object a line. */
async function deploy(server: Server, root: string, args: readonly string[] = []) {
  const before = logOf(root);
  const from = counts(server);
  const ended = await run('runner-deploy', ['shop', ...args], { root });
  isCalm(`deploy ${args}`, ended);
  const after = logOf(root);
  assert.ok(after.startsWith(before));
  assert.not.match(after, MOVES);
  if (ended.status === 0 && !args.includes(SILENT)) isQuiet(server, from);
  return { ended, added: objects(after.slice(before.length)) };
}

test('build output cannot control the terminal, forge a record or mention anyone', async () => {
  const server = await started;
  const root = server.copy();
  const deployFile = 'build: "cat evil; cat evil >&2; exit 3"\nnotify: {}\n';
  await server.git.commit('acme/shop', { evil: EVIL, '.deploy.yml': deployFile }, EVIL);
  for (const args of [[], ['--verbose'], ['--json']]) {
    const from = counts(server);
    const { ended, added } = await deploy(server, root, args);
    assert.is(ended.status, 1, ended.stderr);
    isQuiet(server, from);
    assert.equal(
      added.filter(({ version }) => version !== 'v-kept').map((each) => each.event_type),
      ['DeployStarted', 'DeployFailure'],
    );
    if (args[0] === '--json') objects(ended.stdout);
  }
  assert.ok(!objects(logOf(root)).some(({ version }) => version === 'forged'));
  await allAreCalm(root);
});

test('a tag and a domain that hold markup, mentions and marks of direction stay text', async () => {
  const server = await started;
  const root = server.copy();
  const tags = [
    'v_1_@everyone(evil.example)|`x`<@123>',
    '\u202egat\u2066$(touch${IFS}pwned);rm',
    `${'t\u0301'.repeat(60)}`,
  ];
  for (const [index, tag] of tags.entries()) {
    const deployFile = `instances: { default: { domain: "x.example" } }\nbuild: "echo $RUNNER_VERSION; exit ${index % 2}"\nnotify: {}\n`;
    await server.git.commit('acme/shop', { VERSION: tag, '.deploy.yml': deployFile }, tag, { tag });
    const { added } = await deploy(server, root);
    // A name that a reader could confuse with another is passed over for the commit.
    assert.match(String(added.at(-1)?.version), /^[0-9a-f]{12}$/);
  }
  await allAreCalm(root, [[]]);
});

test('names that git would read as options or two words are refused or skipped', async () => {
  const server = await started;
  const root = server.copy();
  const bad = ['--upload-pack=x', '-o/x', 'a b', 'x\u001b[2J', 'x\ny', '..', 'x'.repeat(100_000)];
  const places = [
    (name: string) => ['--repo=acme/x', `--branch=${name}`],
    (name: string) => [`--repo=${name}`, '--branch=main'],
    (name: string) => ['--repo=acme/x', '--branch=main', `--name=${name}`],
  ];
  for (const [turn, name] of bad.entries()) {
    const args = places[turn % places.length]?.(name) ?? [];
    const ended = await run('runner-add', [...args, '--public'], { root });
    assert.is(ended.status, 1, `${args.join(' ').slice(0, 80)}: ${ended.stderr.slice(0, 200)}`);
    assert.match(ended.stderr, /^runner add: [^\n]{1,300} \(name_invalid\)\n$/);
    isCalm('add', ended);
  }
  // A host may name anything a tag of the commit that is deployed.
  const commit = await server.commit('v7');
  const packed = join(server.git.path('acme/shop'), 'packed-refs');
  for (const name of ['a tag', '--upload-pack=x', '../../etc', '-d', '@{-1}']) {
    writeFileSync(packed, `${commit} refs/tags/${name}\n`);
    const { ended, added } = await deploy(server, root, [SILENT]);
    if (ended.status !== 0) {
      assert.match(ended.stderr, /\nrunner deploy: [^\n]+ \(\w+\)\n$/);
      assert.ok(!added.some(({ event_type }) => event_type === 'DeployStarted'));
    } else assert.is(added.at(-1)?.version, 'v7');
  }
  rmSync(packed);
});

test('any invalid .deploy.yml gets one sentence', async () => {
  const server = await started;
  const root = server.copy();
  for (const text of [
    'build: "echo x"\n"\\e[2J\\u202eevil": 1\n',
    'start: { type: "\\e]0;x\\a" }\n',
    'instances: { "a\\nb": {} }\n',
    'instances: { "--upload-pack=x": {} }\n',
    'health: { url: "http://evil\\e[2J/@everyone", within: 300ms }\nstart: { type: none }\n',
    `build: "${'x'.repeat(50_000)}"\n`,
    'hooks: { pre_build: "printf \'\\\\033[2J\\\\n@everyone\'; exit 1" }\nnotify: {}\n',
  ]) {
    await server.git.commit('acme/shop', { '.deploy.yml': text }, 'hostile');
    const { ended } = await deploy(server, root, text.includes('notify') ? [] : [SILENT]);
    assert.is(ended.status, 1, text.slice(0, 80));
  }
});

test('a branch of the app that the host has under a hostile name is deployed as any other', async () => {
  const server = await started;
  const root = server.copy();
  const branch = 'feat/@everyone_(x)|`y`;$(id)\u202e';
  await server.git.commit('acme/shop', { a: '1', '.deploy.yml': 'notify: {}\n' }, 'x', { branch });
  await must('runner-edit', ['shop', '--branch', branch], { root });
  const { ended } = await deploy(server, root);
  assert.is(ended.status, 0, ended.stderr);
});

test('any record is one line of the log, and no output controls the terminal', async () => {
  const server = await started;
  await fc.assert(
    fc.asyncProperty(fc.array(hostileRecord, { minLength: 20, maxLength: 30 }), async (records) => {
      const root = join(temporaryFolder('records'), 'root');
      // emit makes no root when no record is an event.
      mkdirSync(root);
      const stdin = records
        .map(({ kind, fields }, index) =>
          JSON.stringify({
            ...fields,
            event: kind,
            app: 'shop',
            version: `v${index}${fields.version ?? ''}`,
          }),
        )
        .map((line) => `${line}\n`)
        .join('');
      const emitted = await run('runner-audit', ['emit', '--root', root], { stdin });
      const echoed = objects(emitted.stdout);
      assert.equal(objects(logOf(root)), echoed);
      isCalm('emit', emitted);
      const told = emitted.stderr.split('\n').filter((line) => line !== '');
      assert.is(echoed.length + told.length, records.length, emitted.stderr);
      writeFileSync(join(root, 'config.yml'), readFileSync(join(server.root, 'config.yml')));
      for (const line of [
        ['runner-audit', 'tail', '-n', '100'],
        ['runner-audit', 'list'],
        ['runner-debug', 'last-error', 'shop'],
      ] as const) {
        const [tool, ...args] = line;
        isCalm(line.join(' '), await run(tool, args, { root }));
      }
      isCalm('preview', await run('runner-notify', ['preview'], { root, stdin }));
    }),
    { numRuns: 2 },
  );
});

test.after(async () => (await started).close());
test.run();
