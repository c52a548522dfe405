/** The messages in previews.md are what is sent. `--update` rewrites them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChannelName } from '@runner/common/config/channels';
import { redactor } from '@runner/common/secrets/redactor';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHANNELS } from '../src/channels/index.ts';
import { noticeOf } from '../src/message/notice.ts';
import type { Announceable } from '../src/message/records.ts';

const DOCUMENT = join(__dirname, '../../tools/runner-notify/test/previews.md');
const [BEGIN, END] = ['<!-- previews -->\n', '<!-- end of previews -->\n'];

const LONG_ERROR = [
  'build: `npm run build` exited with status 2',
  ...Array.from(
    { length: 12 },
    (_, index) => `  compiled src/pages/page-${index + 1}.tsx in ${index + 20} ms, 14 kB`,
  ),
  "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.",
  '',
  '17   const total: number = sum(items);',
  '           ~~~~~',
  '',
  ...Array.from(
    { length: 4 },
    (_, index) => `  skipped src/pages/page-${index + 13}.tsx, it imports what has failed`,
  ),
  'Found 1 error in src/cart.ts:17',
].join('\n');

const PICKED = "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.";

const common = {
  project: 'shop',
  instance: 'prod-1',
  version: 'v1.3.0',
  deploy_id: 'a1b2c3d4',
  timestamp: '2026-05-04T09:30:00.000Z',
  user: 'alice',
  changes: {
    count: 3,
    subjects: ['Fix the cart', 'Add taxes', 'Round prices'],
    authors: ['alice', 'bob'],
    compare: 'https://github.com/acme/shop/compare/v1.2.9...v1.3.0',
  },
};
const SAMPLES: readonly (readonly [title: string, kind: Announceable['kind'], fields: object])[] = [
  ['Deploy started', 'DeployStarted', {}],
  ['Deploy completed', 'DeploySuccess', { duration_ms: 65_000 }],
  [
    'Deploy failed, with a short error',
    'DeployFailure',
    {
      previous_version: 'v1.2.9',
      error: 'health: http://127.0.0.1:3000/health answered 500, wanted 200-299',
    },
  ],
  [
    'Deploy failed, with a long error',
    'DeployFailure',
    { previous_version: 'v1.2.9', error: LONG_ERROR },
  ],
  [
    'Rollback',
    'RollbackSuccess',
    { version: 'v1.2.9', from_version: 'v1.3.0', reason: 'health: answered 500, wanted 200-299' },
  ],
];

/** Shown in every channel. */
const EVERYWHERE = 'Deploy failed, with a short error';
const TITLES = { slack: 'Slack', ntfy: 'ntfy', email: 'E-mail', webhook: 'Webhook' } as const;

async function previews(): Promise<string> {
  const options = { redact: redactor(), verboseErrors: true, random: () => 0 };
  const warn = (text: string) => {
    throw new Error(text);
  };
  const parts: string[] = [];
  for (const [title, kind, fields] of SAMPLES) {
    const record = { kind, project: 'shop', fields: { ...common, ...fields } };
    const made = await noticeOf(record, options);
    // What is picked out of a long log is the extractor's business.
    const notice = made.log === undefined ? made : { ...made, error: PICKED };
    const telegram = CHANNELS.telegram
      .messages(notice, undefined, warn)
      .map(({ payload }) => payload.text);
    parts.push(`### ${title}\n`);
    for (const text of telegram) parts.push(`Telegram:\n\n\`\`\`\`\n${text}\n\`\`\`\`\n`);
    // One shows the structure; docs/images/ has the others.
    if (title !== EVERYWHERE) continue;
    for (const [name, service] of Object.entries({ discord: 'Discord', ...TITLES })) {
      const [message] = CHANNELS[name as ChannelName].messages(notice, undefined, warn);
      const text = JSON.stringify(message?.payload, null, 2);
      parts.push(`${service}:\n\n\`\`\`\`json\n${text}\n\`\`\`\`\n`);
    }
  }
  return parts.join('\n');
}

test('the previews are what is sent', async () => {
  const document = readFileSync(DOCUMENT, 'utf8');
  const [before, rest = ''] = document.split(BEGIN) as [string, string?];
  const [shown, after] = rest.split(END) as [string, string?];
  const wanted = `\n${await previews()}\n`;
  if (process.argv.includes('--update'))
    writeFileSync(DOCUMENT, [before, BEGIN, wanted, END, after].join(''));
  else assert.is(shown, wanted);
});

test.run();
