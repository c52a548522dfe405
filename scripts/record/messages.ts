/** docs/messages.html: every kind of message in every channel, and pictures of it, light and dark. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANNEL_NAMES, type ChannelName } from '@runner/common/config/channels';
import { startChromium } from '@runner/testing/chromium';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { sampleRecords } from '../../tools/runner-notify/src/message/samples.ts';
import { SHOWN } from './message-markup.ts';
import { MONOSPACE, SANS } from './xml.ts';

const NAMES: Readonly<Record<ChannelName, string>> = {
  telegram: 'Telegram',
  discord: 'Discord',
  slack: 'Slack',
  ntfy: 'ntfy',
  email: 'E-mail',
  webhook: 'Webhook',
};

const DIGEST = {
  timestamp: '2026-05-04T09:30:00.000Z',
  event_type: 'Digest',
  project: 'all apps',
  since: '2026-04-27T09:30:00.000Z',
  error: `14 deploys, 2 failed, restored in 4 m 10 s
  shop: 9, 2 failed
  blog: 5

Causes:
  shop: src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'. (2 times)

Needs attention:
  shop: blocked`,
};

const RECORDS = [
  ...sampleRecords('a1b2c3d4', new Date(DIGEST.timestamp)).map(({ fields }) => fields),
  DIGEST,
];

const STYLE = `
:root{color-scheme:light dark;--back:#f4f5f7;--page:#fff;--ink:#1d2329;--dim:#5c6470;--line:#d9dde2;--code:#eceff2;--link:#0b5cad}
@media(prefers-color-scheme:dark){:root{--back:#15181c;--page:#22262c;--ink:#e3e6ea;--dim:#9aa3ad;--line:#3a4048;--code:#15181c;--link:#7db4f5}}
body{margin:0;padding:16px;background:var(--back);color:var(--ink);font:14px/1.45 ${SANS}}
main{max-width:588px;margin:auto}
h3{margin:14px 0 4px;font-size:12px;font-weight:400;color:var(--dim)}
article{background:var(--page);border:1px solid var(--line);border-radius:8px;padding:10px 14px;margin-bottom:6px;overflow-wrap:anywhere}
.text{white-space:pre-wrap}
code,pre{font:12.5px/1.4 ${MONOSPACE};background:var(--code);border-radius:4px}
code{padding:1px 4px}
pre{margin:4px 0;padding:6px 8px;white-space:pre-wrap}
a{color:var(--link)}
small{color:var(--dim);font-size:12px}
.embed{border-left:4px solid;border-radius:4px;background:var(--back);padding:8px 12px;margin-top:4px}
.inline{display:inline-block;min-width:30%;margin:4px 0}
.field{margin:4px 0}
.embed small{display:block}
[data-only] section{display:none}${CHANNEL_NAMES.map((name) => `\n[data-only=${name}] #${name}{display:block}`).join('')}
`;

interface Preview {
  readonly channel: ChannelName;
  readonly payload: Readonly<Record<string, unknown>>;
}

async function previewsOf(record: object): Promise<Preview[]> {
  const stdin = JSON.stringify(record);
  const args = ['preview', '--channel', 'all', '--json'];
  const given = { stdin, root: '/nonexistent' };
  const { status, stdout, stderr } = await run('runner-notify', args, given);
  if (status !== 0) throw new Error(stderr);
  const lines = stdout.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Preview);
}

/** The page, which loads nothing. */
export async function messagesPage(): Promise<string> {
  const shown = Object.fromEntries(CHANNEL_NAMES.map((name): [string, string[]] => [name, []]));
  for (const record of RECORDS) {
    const previews = await previewsOf(record);
    for (const name of CHANNEL_NAMES) {
      const own = previews.filter(({ channel }) => channel === name);
      const articles = own.map(({ payload }) => `<article>${SHOWN[name](payload)}</article>`);
      shown[name]?.push(`<h3>${record.event_type}</h3>`, ...articles);
    }
  }
  const sections = CHANNEL_NAMES.map(
    (name) =>
      `<section id="${name}"><h2>${NAMES[name]}</h2>\n${shown[name]?.join('\n')}\n</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Messages of runner</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${sections.join('\n')}
</main>
</body>
</html>
`;
}

/** Pixels of a picture: those of deploys and some of the others; the page has them all. */
const PICTURE_MAX = 4_000;

/** The names of the pictures. */
export const PICTURES = CHANNEL_NAMES.flatMap((channel) =>
  ['light', 'dark'].map((theme) => ({ channel, theme, name: `messages-${channel}-${theme}.webp` })),
);

/** The pictures of the page as [file, WebP] pairs, drawn by Chromium. */
export async function messagePictures(html: string): Promise<(readonly [string, Buffer])[]> {
  const file = join(temporaryFolder('messages'), 'messages.html');
  writeFileSync(file, html);
  const browser = startChromium();
  try {
    const page = await browser.open(file);
    const pictures: (readonly [string, Buffer])[] = [];
    for (const { channel, theme, name } of PICTURES) {
      await page.evaluate(`document.body.dataset.only = '${channel}'`);
      await page.show({ width: 620, dark: theme === 'dark' });
      pictures.push([name, await page.picture(PICTURE_MAX, 'webp')]);
    }
    return pictures;
  } finally {
    browser.close();
  }
}
