/** Each command that writes records, in a pipe with each that takes them: every member ends well, nothing is lost. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Discord, startDiscord } from '@runner/testing/discord';
import { IS_WHOLE } from '@runner/testing/extent';
import { shell } from '@runner/testing/run';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deployFile, inWorld, type World } from './world.ts';

/**
 * What writes records or reads them, how many lines it prints (undefined: all there are), and what
 * makes that so.
 */
const WRITERS: readonly (readonly [command: string, lines?: number, before?: string])[] = [
  ['runner-deploy shop --events --no-notify', 2],
  ['runner-deploy shop --ref v1 --events --no-notify', 2],
  ['runner-fetch --deploy --events --no-notify', 0],
  ['runner-rollback shop --to v2 --events --no-notify', 1],
  ['runner-restart shop --events', 1],
  ['runner-stop shop --events', 1, 'runner-start shop'],
  ['runner-start shop --events', 1, 'runner-stop shop'],
  ['runner-audit emit < foreign.jsonl', 3],
  ['runner-audit list --json'],
  ['runner-audit list --json --event DeploySuccess,RollbackSuccess'],
];

/** What stands between them; each passes on what it gets. */
const BETWEEN = IS_WHOLE ? ['', 'tee seen.jsonl |', 'runner-audit emit |'] : ['tee seen.jsonl |'];

/** What takes records; `first` reads one line only. */
const READERS = [
  'runner-notify send',
  'runner-audit emit',
  'runner-history -',
  'head -n 1',
] as const;

/** Records of another tool, which have what ours need not have, and no deploy_id. */
const FOREIGN = ['DeployStarted', 'DeployFailure', 'RollbackSuccess'].map((event) =>
  JSON.stringify({
    event,
    app: 'elsewhere',
    version: 'v7',
    error: 'a “quote”, a tab\t and 9007199254740993',
    run: 9_007_199_254,
  }),
);

const test = suite('pipelines');

interface Piped {
  readonly statuses: string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a pipeline in the folder of the root; `statuses` are those of its members. */
async function pipe(world: World, script: string): Promise<Piped> {
  const counted = `${script}; printf '%s\\n' "\${PIPESTATUS[*]}" > statuses`;
  const quoted = counted.replaceAll("'", "'\\''");
  const done = await shell(`bash -c '${quoted}'`, { root: world.root, cwd: world.root });
  const statuses = readFileSync(join(world.root, 'statuses'), 'utf8').trim();
  return { statuses, stdout: done.stdout, stderr: done.stderr };
}

/** Plays every pipeline that begins with this command. */
async function play(world: World, chat: Discord, [writer, lines, first]: (typeof WRITERS)[number]) {
  for (const between of BETWEEN)
    for (const reader of READERS) {
      if (first) await pipe(world, first);
      const script = `${writer} | ${between} ${reader}`;
      const before = world.events().length;
      const sent = chat.messages.length + chat.edits.length;
      const { statuses, stdout, stderr } = await pipe(world, script);
      const members = script.split('|').length;
      // A reader that leaves ends tee, but no command of ours.
      const good = statuses.replace(/ 141 0$/, ' 0 0');
      assert.is(good, Array(members).fill('0').join(' '), `${script}: ${stderr}`);
      const written = world.events().length - before;
      // Its records are in the log once, even if other members of the pipe read them.
      assert.is(written, lines ?? 0, `${script}: ${stderr}`);
      const count = (text: string) => text.split('\n').filter(Boolean).length;
      const passed = lines ?? (writer.includes('--event ') ? undefined : before);
      const isFirst = reader.startsWith('head');
      const seen = between.startsWith('tee') ? readFileSync(join(world.root, 'seen.jsonl')) : '';
      if (seen && passed !== undefined && !isFirst) assert.is(count(String(seen)), passed, script);
      if (isFirst) assert.is(count(stdout), Math.min(1, lines ?? 1), script);
      if (reader === 'runner-audit emit' && passed !== undefined)
        assert.is(count(stdout), passed, script);
      const isAnnounced = reader.includes('notify') && /deploy shop|rollback/.test(writer);
      const arrived = chat.messages.length + chat.edits.length - sent;
      if (isAnnounced) assert.ok(arrived > 0, `${script}: ${stdout}${stderr}`);
    }
}

for (const each of WRITERS) {
  const count = BETWEEN.length * READERS.length;
  test(`${count} pipelines of ${each[0]}`, () =>
    inWorld(async (world) => {
      const chat = await startDiscord();
      try {
        const config = `code_host_git_url: ${world.git.url}\nnotify: { discord_webhook: "${chat.webhook}" }\n`;
        writeFileSync(join(world.root, 'config.yml'), config, { mode: 0o600 });
        writeFileSync(join(world.root, 'foreign.jsonl'), `${FOREIGN.join('\n')}\n`);
        const deploy = deployFile(world.port, 'notify: { channel: discord }\n');
        await world.push('v1', { deploy });
        await world.deploy(['--no-notify']);
        await world.push('v2', { deploy });
        await world.deploy(['--no-notify']);
        await play(world, chat, each);
        const verified = await pipe(world, 'runner-audit verify');
        assert.is(verified.statuses, '0', verified.stdout);
        assert.not(existsSync(join(world.root, 'spool/notify/dead')));
      } finally {
        await chat.close();
      }
    }));
}

test.run();
