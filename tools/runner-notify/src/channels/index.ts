/** The services that deploys are announced in; a new one is a folder and a line here. */
import type { ChannelName } from '@runner/common/config/channels';
import type { SetUp } from '../dialogue/situation.ts';
import type { ChatService } from '../service/contract.ts';
import { discord } from './discord/discord.ts';
import { setUpDiscord } from './discord/setup.ts';
import { email } from './email/email.ts';
import { ntfy } from './ntfy/ntfy.ts';
import { setUpSection } from './section-setup.ts';
import { slack } from './slack/slack.ts';
import { setUpTelegram } from './telegram/setup.ts';
import { telegram } from './telegram/telegram.ts';
import { webhook } from './webhook/webhook.ts';

export const CHANNELS: Readonly<Record<ChannelName, ChatService & { readonly setUp: SetUp }>> = {
  telegram: { ...telegram, setUp: setUpTelegram },
  discord: { ...discord, setUp: setUpDiscord },
  slack: { ...slack, setUp: setUpSection('slack', slack) },
  ntfy: { ...ntfy, setUp: setUpSection('ntfy', ntfy) },
  email: { ...email, setUp: setUpSection('email', email) },
  webhook: { ...webhook, setUp: setUpSection('webhook', webhook) },
};
