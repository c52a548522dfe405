/** The messages in previews.md are what is sent. `--update` rewrites them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChannelName } from '@runner/common/config/channels';
import { redactor } from '@runner/common/secrets/redactor';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHANNELS } from '../src/channels/index.ts';
import { noticeOf } from '../src/message/notice.ts';
import { isOfDeploy } from '../src/message/records.ts';
import { sampleRecords } from '../src/message/samples.ts';

const DOCUMENT = join(__dirname, '../../tools/runner-notify/test/previews.md');
const [BEGIN, END] = ['<!-- previews -->\n', '<!-- end of previews -->\n'];

const PICKED = "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.";

const SAMPLES = sampleRecords('a1b2c3d4', new Date('2026-05-04T09:30:00.000Z')).filter(({ kind }) =>
  isOfDeploy(kind),
);
/** Shown in every channel. */
const EVERYWHERE = SAMPLES.find(({ kind }) => kind === 'DeployFailure');
const TITLES = { slack: 'Slack', ntfy: 'ntfy', email: 'E-mail', webhook: 'Webhook' } as const;

async function previews(): Promise<string> {
  const options = { redact: redactor(), verboseErrors: true, random: () => 0 };
  const warn = (text: string) => {
    throw new Error(text);
  };
  const parts: string[] = [];
  for (const record of SAMPLES) {
    const made = await noticeOf(record, options);
    // What is picked out of a long log is the extractor's business.
    const notice = made.log === undefined ? made : { ...made, error: PICKED };
    const telegram = CHANNELS.telegram
      .messages(notice, undefined, warn)
      .map(({ payload }) => payload.text);
    parts.push(`### ${record.kind}\n`);
    for (const text of telegram) parts.push(`Telegram:\n\n\`\`\`\`\n${text}\n\`\`\`\`\n`);
    // One shows the structure; docs/images/ has the others.
    if (record !== EVERYWHERE) continue;
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
