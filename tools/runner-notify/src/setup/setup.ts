/** `runner notify setup`: asks and tests everything first, then saves at once. */

import { dirname, join } from 'node:path';
import type { Context } from '@runner/common/cli/command';
import {
  CHANNEL_NAMES,
  type ChannelChoice,
  type ChannelName,
  channelsOf,
} from '@runner/common/config/channels';
import { changedConfig, editConfig, requireWritable } from '@runner/common/config/edit';
import { readConfig } from '@runner/common/config/file';
import { isThere } from '@runner/common/files/read';
import { canAsk } from '@runner/common/tokens/prompt';
import { Configured } from '../channels/configured.ts';
import { CHANNELS } from '../channels/index.ts';
import { type Dialogue, openDialogue } from '../dialogue/dialogue.ts';
import { changesTo, type Prepared, type Situation } from '../dialogue/situation.ts';
import type { ConfigValues } from '../service/contract.ts';
import { keepTrial } from '../status/trial.ts';
import { readInputs, requireInputs, type SetupOptions } from './inputs.ts';

/** What was saved; what `runner notify setup --json` prints. */
export type SetupReport = Awaited<ReturnType<typeof setUpChannels>>;

type SetupContext = Pick<Context, 'io' | 'paths' | 'note' | 'errStyle'>;

/** Throws `usage` when an answer is missing and stdin is not a terminal; then nothing is changed. */
export async function setUp(
  context: SetupContext,
  options: SetupOptions,
  test: boolean,
): Promise<SetupReport> {
  const { io } = context;
  const inputs = readInputs(io, options);
  // Refuses a file that cannot be trusted.
  readConfig(context.paths);
  requireWritable(context.paths);
  if (inputs.stdinUsed || !canAsk(io)) {
    requireInputs(inputs);
    return setUpChannels(context, { inputs, channels: inputs.channels, test, dialogue: undefined });
  }
  const dialogue = openDialogue(io, context.errStyle);
  try {
    const channels = inputs.channels ?? (await chooseChannels(dialogue));
    return await setUpChannels(context, { inputs, channels, test, dialogue });
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

/** What the setup asks, and of whom. */
interface SetupRequest extends Pick<Situation, 'inputs' | 'test' | 'dialogue'> {
  readonly channels: readonly ChannelName[];
}

async function setUpChannels(
  { io, paths, note }: SetupContext,
  { channels, ...request }: SetupRequest,
) {
  const draft = (values: ConfigValues) =>
    new Configured(
      { io, paths },
      changedConfig(paths, changesTo(values)),
      request.dialogue?.signal,
    );
  const active = activeAfter(draft, channels);
  const situation: Situation = { ...request, io, note, draft };
  const prepared: (Prepared & { readonly channel: ChannelName })[] = [];
  for (const channel of channels) {
    prepared.push({ channel, ...(await CHANNELS[channel].setUp(situation)) });
  }
  const channel = choiceOf(active);
  const values: ConfigValues = Object.assign({ channel }, ...prepared.map((each) => each.values));
  const head = schemaComment(io.program);
  editConfig({ paths, io, command: 'notify setup', head }, changesTo(values));
  for (const { channel: name, tested } of prepared)
    keepTrial({ io, paths, title: 'notify setup' }, name, tested ? null : undefined);
  const kept = active.filter((name) => !channels.includes(name));
  for (const name of kept) note(`${name} is configured already and stays active`);
  return {
    config: paths.config,
    /** What `notify.channel` is now. */
    channel,
    /** `tested`: a test message was delivered. */
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
  draft: (values: ConfigValues) => Configured,
  channels: readonly ChannelName[],
): readonly ChannelName[] {
  const placeholders = channels.map((name) => CHANNELS[name].placeholders);
  const drafted = draft(Object.assign({}, ...placeholders));
  drafted.templates((invalid) => {
    throw invalid;
  });
  return CHANNEL_NAMES.filter((name) => channels.includes(name) || drafted.isActive(name));
}

const SCHEMA = 'runner/schemas/config.schema.json';

/**
 * The first line of a new config.yml: the path of the schema beside the executables' folder, else of
 * the one that a package installed. Empty without either.
 */
export function schemaComment(program: string): string {
  const places = [join(dirname(dirname(program)), 'share', SCHEMA), `/usr/share/${SCHEMA}`];
  // A space would end the path.
  const path = places.find((place) => isThere(place) && !/\s/.test(place));
  return path === undefined ? '' : `# yaml-language-server: $schema=${path}\n`;
}
