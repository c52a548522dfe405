/** `runner notify setup`: asks and tests everything first, then saves at once. */
import type { Context } from '@runner/common/cli/command';
import {
  CHANNEL_NAMES,
  type ChannelChoice,
  type ChannelName,
  channelsOf,
} from '@runner/common/config/channels';
import { editConfig, requireWritable } from '@runner/common/config/edit';
import { type Config, readConfig } from '@runner/common/config/file';
import { notifySettingsOf } from '@runner/common/config/settings';
import { canAsk } from '@runner/common/tokens/prompt';
import { activeChannels } from '../channels/active.ts';
import { connect, lineOf } from '../channels/credentials.ts';
import { CHANNELS } from '../channels/index.ts';
import { checkTemplates } from '../channels/templates.ts';
import { type Dialogue, openDialogue } from '../dialogue/dialogue.ts';
import { draftOf } from '../dialogue/draft.ts';
import type { Inputs, Prepared, Situation } from '../dialogue/situation.ts';
import type { ConfigValues } from '../service/contract.ts';
import { keepTrial } from '../status/trial.ts';
import { readInputs, requireInputs, type SetupOptions } from './inputs.ts';
import { schemaComment } from './schema-comment.ts';

/** What was saved; what `runner notify setup --json` prints. */
export interface SetupReport {
  readonly config: string;
  /** What `notify.channel` is now. */
  readonly channel: ChannelChoice;
  readonly channels: readonly (Readonly<Record<string, unknown>> & {
    readonly channel: ChannelName;
    /** A test message was delivered. */
    readonly tested: boolean;
  })[];
}

type SetupContext = Pick<Context, 'io' | 'paths' | 'note' | 'errStyle'>;

/** Throws `usage` when an answer is missing and stdin is not a terminal; then nothing is changed. */
export async function setUp(
  context: SetupContext,
  options: SetupOptions,
  test: boolean,
): Promise<SetupReport> {
  const { io } = context;
  const inputs = readInputs(io, options);
  const config = readConfig(context.paths);
  requireWritable(context.paths);
  if (inputs.stdinUsed || !canAsk(io)) {
    requireInputs(inputs);
    return setUpChannels(context, config, inputs, inputs.channels, test, undefined);
  }
  const dialogue = openDialogue(io, context.errStyle);
  try {
    const channels = inputs.channels ?? (await chooseChannels(dialogue));
    return await setUpChannels(context, config, inputs, channels, test, dialogue);
  } finally {
    dialogue.close();
  }
}

async function chooseChannels(dialogue: Dialogue): Promise<readonly ChannelName[]> {
  const titleOf = (name: ChannelName) => CHANNELS[name].title;
  const choices = [...CHANNEL_NAMES.map(titleOf), channelsOf('both').map(titleOf).join(' and ')];
  const number = await dialogue.choose('Where to announce deploys?', choices);
  const name = CHANNEL_NAMES[number];
  return name === undefined ? channelsOf('both') : [name];
}

async function setUpChannels(
  { io, paths, note }: SetupContext,
  config: Config,
  inputs: Inputs,
  channels: readonly ChannelName[],
  test: boolean,
  dialogue: Dialogue | undefined,
): Promise<SetupReport> {
  const active = activeAfter(config, channels, io.env);
  const { env } = io;
  const situation: Situation = {
    io,
    config,
    inputs,
    dialogue,
    test,
    note,
    line: (credentials) => lineOf(credentials, env, dialogue?.signal),
    connect: (channel, credentials) => connect(channel, credentials, env, dialogue?.signal),
  };
  const prepared: (Prepared & { readonly channel: ChannelName })[] = [];
  for (const channel of channels) {
    prepared.push({ channel, ...(await CHANNELS[channel].setUp(situation)) });
  }
  const channel = choiceOf(active);
  const values: ConfigValues = Object.assign({ channel }, ...prepared.map((each) => each.values));
  const changes = Object.entries(values).map(([key, value]) => ({
    path: ['notify', ...key.split('.')],
    value,
  }));
  editConfig({ io, paths, command: 'notify setup', head: schemaComment(io.program) }, changes);
  const saved = notifySettingsOf(readConfig(paths), io.env);
  for (const { channel: name, tested } of prepared)
    keepTrial({ io, paths, title: 'notify setup' }, name, saved, tested ? null : undefined);
  const kept = active.filter((name) => !channels.includes(name));
  for (const name of kept) note(`${name} is configured already and stays active`);
  return {
    config: paths.config,
    channel,
    channels: prepared.map(({ channel: name, facts, tested }) => ({
      channel: name,
      ...facts,
      tested,
    })),
  };
}

/** What `notify.channel` says of these channels. */
function choiceOf(active: readonly ChannelName[]): ChannelChoice {
  const [first] = active;
  if (active.length === 1 && first !== undefined) return first;
  return active.join() === channelsOf('both').join() ? 'both' : active;
}

/** The channels that will be active: those that are set up, and those that are active now. */
function activeAfter(
  config: Config,
  channels: readonly ChannelName[],
  env: SetupContext['io']['env'],
): readonly ChannelName[] {
  const placeholders: ConfigValues = Object.assign(
    {},
    ...channels.map((name) => CHANNELS[name].placeholders),
  );
  const draft = draftOf(config, placeholders);
  const settings = notifySettingsOf(draft, env);
  checkTemplates(draft, settings);
  const active = activeChannels(settings);
  return CHANNEL_NAMES.filter((name) => channels.includes(name) || active.includes(name));
}
