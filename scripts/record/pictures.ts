/** Pictures of the messages of each kind of event, from what `runner notify preview` would send. */
import { run } from '@runner/testing/run';
import { type DiscordPayload, discordPicture } from './discord-picture.ts';
import { telegramPicture } from './telegram-picture.ts';

const LONG_ERROR = [
  'build: `npm run build` ended with status 2',
  'tsc --project . && vite build',
  ...['cart', 'checkout', 'orders', 'users', 'search', 'invoice', 'mail', 'login'].flatMap(
    (name) => [`compiled src/${name}/view.tsx, 14 kB`, `compiled src/${name}/store.ts, 3 kB`],
  ),
  "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.",
  '',
  '17   const total: number = sum(items);',
  '           ~~~~~',
  'Found 1 error in src/cart.ts:17',
  'npm error Lifecycle script `build` failed with error:',
  'npm error code 2',
].join('\n');

const common = {
  project: 'shop',
  instance: 'default',
  version: 'v1.3.0',
  deploy_id: 'a1b2c3d4',
  timestamp: '2026-05-04T09:30:00.000Z',
};

/** Name of the picture -> what it shows -> the record. */
const RECORDS: readonly (readonly [name: string, title: string, record: object])[] = [
  ['started', 'Deploy started', { event_type: 'DeployStarted' }],
  ['success', 'Deploy completed', { event_type: 'DeploySuccess', duration_ms: 65_000 }],
  [
    'failure',
    'Deploy failed',
    { event_type: 'DeployFailure', previous_version: 'v1.2.9', error: LONG_ERROR },
  ],
  [
    'rollback',
    'Rollback',
    {
      event_type: 'RollbackSuccess',
      version: 'v1.2.9',
      from_version: 'v1.3.0',
      reason: 'health: http://127.0.0.1:3000/health answered 503 instead of 200-299',
    },
  ],
];

interface Preview {
  readonly channel: 'telegram' | 'discord';
  readonly payload: unknown;
}

async function previewsOf(record: object): Promise<Preview[]> {
  const stdin = `${JSON.stringify({ ...common, ...record })}\n`;
  const args = ['preview', '--channel', 'both', '--json'];
  const { status, stdout, stderr } = await run('runner-notify', args, {
    stdin,
    root: '/nonexistent',
  });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Preview);
}

/** [file name, SVG] of every kind of event in both channels. */
export async function messagePictures(): Promise<[name: string, svg: string][]> {
  const pictures: [string, string][] = [];
  for (const [name, title, record] of RECORDS) {
    const previews = await previewsOf(record);
    const of = <Payload>(channel: Preview['channel']) =>
      previews.filter((each) => each.channel === channel).map(({ payload }) => payload as Payload);
    const telegram = telegramPicture(of<{ text: string }>('telegram'), `${title}, in Telegram`);
    const discord = discordPicture(of<DiscordPayload>('discord'), `${title}, in Discord`);
    pictures.push([`telegram-${name}.svg`, telegram], [`discord-${name}.svg`, discord]);
  }
  return pictures;
}
