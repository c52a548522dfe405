import { Secret } from '@runner/common/secrets/secret';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { activeChannels } from '../src/channels/credentials.ts';
import { select } from '../src/deliver/selection.ts';

const TELEGRAM = {
  botToken: new Secret('1:x'),
  chatId: '1',
  threadId: undefined,
  apiUrl: 'https://example.org',
};
const DISCORD = { webhook: new Secret('https://example.org') };

/** Which credentials are set, the global `channel`, and what is active then. */
const ACTIVE = [
  ['', undefined, ''],
  ['t', undefined, 't'],
  ['d', undefined, 'd'],
  ['td', undefined, 'td'],
  ['td', 'telegram', 't'],
  ['td', 'discord', 'd'],
  ['td', 'both', 'td'],
  ['t', 'discord', ''],
  ['d', 'telegram', ''],
  ['t', 'both', 't'],
  ['d', 'both', 'd'],
  ['', 'both', ''],
] as const;

const letters = (names: readonly string[]) => names.map((name) => name[0]).join('');
const names = (text: string) =>
  (['telegram', 'discord'] as const).filter((name) => text.includes(name[0] as string));

for (const [set, channel, active] of ACTIVE) {
  test(`credentials '${set}' and channel ${channel ?? 'not set'} make '${active}' active`, () => {
    const settings = {
      channel,
      telegram: set.includes('t') ? TELEGRAM : undefined,
      discord: set.includes('d') ? DISCORD : undefined,
      slack: undefined,
      ntfy: undefined,
      email: undefined,
      webhook: undefined,
      events: true,
      digest: false,
      edit: false,
      verboseErrors: true,
      commitStatus: false,
      template: () => undefined,
    };
    assert.is(letters(activeChannels(settings)), active);
  });
}

/** What is active, `--channel`, the app's own choice, and what comes of it: channels or a reason. */
const SELECTED = [
  ['td', undefined, 'all', 'td'],
  ['td', undefined, 'telegram', 't'],
  ['td', undefined, 'discord', 'd'],
  ['td', undefined, 'none', 'app_without_notify'],
  ['td', 'telegram', 'none', 't'],
  ['td', 'discord', 'telegram', 'd'],
  ['td', 'both', 'none', 'td'],
  ['td', 'none', 'all', 'no_notify'],
  ['t', undefined, 'all', 't'],
  ['t', undefined, 'discord', 'channel_not_active'],
  ['t', 'discord', 'all', 'channel_not_active'],
  ['t', 'both', 'all', 't'],
  ['d', undefined, 'telegram', 'channel_not_active'],
  ['', undefined, 'all', 'not_configured'],
  ['', undefined, 'none', 'not_configured'],
  ['', 'telegram', 'all', 'not_configured'],
  ['', 'none', 'all', 'no_notify'],
] as const;

for (const [active, asked, app, outcome] of SELECTED) {
  test(`active '${active}', --channel ${asked ?? 'not given'}, app ${app}: ${outcome}`, () => {
    const selection = select(names(active), asked, () => app);
    assert.is('reason' in selection ? selection.reason : letters(selection.channels), outcome);
  });
}

test('the app is not asked when --channel says it', () => {
  select(['telegram'], 'telegram', () => {
    throw new Error('asked');
  });
});

test.run();
