/** Follows "Adding a channel" of docs/contributing.md to the letter, in a copy of what it changes. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readBody, startLoopback } from '@runner/testing/loopback';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { event } from './chats.ts';

const checkout = join(__dirname, '../..');
const page =
  readFileSync(join(checkout, 'docs/contributing.md'), 'utf8')
    .split('\n## Adding a channel\n')[1]
    ?.split('\n## ')[0] ?? '';
const blocks = [...page.matchAll(/([\s\S]*?)\n```ts\n([\s\S]*?)```\n/g)];

/** Puts each block into the file that the text before it names: after a line, or as a new file. */
function follow(copy: string): void {
  for (const [, before = '', text = ''] of blocks) {
    const words = before.trimEnd().split('\n\n').at(-1) ?? '';
    const path = join(copy, /`((?:libs|tools)\/[\w./-]+\.ts)`/.exec(words)?.[1] ?? 'nowhere');
    const after = /, after `([^\n]+)`:$/.exec(words)?.[1];
    if (after === undefined) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      continue;
    }
    const source = readFileSync(path, 'utf8');
    const at = source.indexOf(after);
    assert.ok(at >= 0, `${path} has no ${after}`);
    const end = source.indexOf('\n', at) + 1;
    writeFileSync(path, source.slice(0, end) + text + source.slice(end));
  }
}

function build(copy: string): string {
  const program = join(copy, 'runner-notify.cjs');
  const alias = ['common', 'extract', 'history'].map(
    (name) =>
      `--alias:@runner/${name}=${join(name === 'common' ? copy : checkout, 'libs', name, 'src')}`,
  );
  const options = [
    '--bundle',
    '--platform=node',
    '--target=node20',
    '--format=cjs',
    '--define:__VERSION__="0"',
  ];
  const more = ['--supported:dynamic-import=false', '--log-level=error', `--outfile=${program}`];
  const built = spawnSync(
    join(checkout, 'node_modules/.bin/esbuild'),
    [join(copy, 'tools/runner-notify/src/main.ts'), ...options, ...alias, ...more],
    {
      encoding: 'utf8',
      env: { ...process.env, NODE_PATH: join(checkout, 'node_modules/.pnpm/node_modules') },
    },
  );
  assert.is(built.status, 0, built.stderr);
  return program;
}

test('the channel of docs/contributing.md is set up, delivers, shows its status and keeps its secret', async () => {
  const copy = temporaryFolder('channel');
  for (const path of ['libs/common/src', 'tools/runner-notify/src'])
    cpSync(join(checkout, path), join(copy, path), { recursive: true });
  follow(copy);
  const program = build(copy);
  const notes: string[] = [];
  const loft = await startLoopback({
    route: () => 'note',
    async answer(request, response) {
      notes.push(JSON.parse((await readBody(request))?.toString('utf8') ?? '{}').note);
      response.writeHead(201).end();
    },
  });
  const { spawn } = await import('node:child_process');
  const run = (args: readonly string[], input: string) =>
    new Promise<{ status: number | null; out: string }>((resolve) => {
      const child = spawn(process.execPath, [program, ...args, '--root', root]);
      let out = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          out += chunk.toString();
        });
      child.on('close', (status) => resolve({ status, out }));
      child.stdin.end(input);
    });
  const root = temporaryFolder('loft');
  const secret = 'c0ffee5ecret4pigeons';
  const setup = await run(
    ['setup', '--channel', 'pigeon', '--pigeon-loft-file', '-'],
    `${loft.url}/loft/${secret}`,
  );
  assert.is(setup.status, 0, setup.out);
  const error = `boom ${loft.url}/loft/${secret} ${'x'.repeat(5000)}`;
  const sent = await run(['send'], `${JSON.stringify(event('DeployFailure', { error }))}\n`);
  assert.match(sent.out, 'delivered');
  const status = await run(['status', '--offline'], '');
  assert.match(status.out, 'Pigeon: active, not checked');
  assert.is(notes[0], 'runner announces deploys here.');
  assert.match(notes[1] ?? '', /^❌ Deploy failed\nProject: shop\n/);
  assert.ok(notes.every((note) => [...note].length <= 2_000));
  for (const text of [setup.out, sent.out, status.out, ...notes]) assert.not.match(text, secret);
  await loft.close();
});

test.run();
