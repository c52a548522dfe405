/** The sections of notify in docs/commands.md name every field that is printed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@runner/testing/run';
import * as assert from 'uvu/assert';
import { BOT_TOKEN, CHAT_ID, chats, chatsSuite } from './chats.ts';

const commands = readFileSync(join(__dirname, '../../docs/commands.md'), 'utf8');
const [page = ''] =
  /\n## runner notify setup\n[\s\S]*\n## runner notify digest\n/.exec(commands) ?? [];

const test = chatsSuite();

/** Names of all fields of a value, nested ones too. */
function namesOf(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  if (Array.isArray(value)) return value.flatMap(namesOf);
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesOf(inner)]);
}

const undocumented = (names: readonly string[]) =>
  [...new Set(names)].filter((name) => !new RegExp(`\\b${name}\\b`).test(page));

test('every field of the answers is on the page', async () => {
  const { root, bot, hook } = chats;
  const json = async (args: readonly string[], env: Record<string, string> = {}) =>
    JSON.parse((await run('runner-notify', [...args, '--json'], { root, env })).stdout) as unknown;
  assert.equal(undocumented(namesOf(await json(['status']))), []);
  assert.equal(undocumented(namesOf(await json(['test']))), []);
  hook.remove();
  bot.revoke();
  assert.equal(undocumented(namesOf(await json(['status']))), []);
  assert.equal(undocumented(namesOf(await json(['test']))), []);
});

test('every field of what setup and preview print is on the page', async () => {
  const { root, bot, hook } = chats;
  const setup = await run(
    'runner-notify',
    ['setup', `--chat-id=${CHAT_ID}`, '--thread-id=7', '--channel=both', '--json'],
    {
      root,
      env: {
        RUNNER_TELEGRAM_API_URL: bot.url,
        RUNNER_TELEGRAM_TOKEN: BOT_TOKEN,
        RUNNER_DISCORD_WEBHOOK: hook.webhook,
      },
    },
  );
  assert.equal(undocumented(namesOf(JSON.parse(setup.stdout))), []);
  const preview = await run('runner-notify', ['preview', '--json'], { root });
  const [first = ''] = preview.stdout.split('\n');
  assert.equal(undocumented(Object.keys(JSON.parse(first))), []);
});

test.run();
