/** Answers given on the command line, in files and in the environment. */
import { optionTitle } from '@runner/common/cli/option';
import { CHANNEL_NAMES, type ChannelName, channelsIn } from '@runner/common/config/channels';
import { readGiven, refuseTwoReaders } from '@runner/common/files/read';
import { invalidValue, notProvided, usage } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { ANSWERS } from '../channels/options.ts';
import type { Inputs } from '../dialogue/situation.ts';

/** Far above any token or address: a larger file is the wrong one. */
const FILE_MAX = 65_536;

/** The options that `runner notify setup` was given. */
export type SetupOptions = Readonly<Record<string, string | undefined>>;

const ALL = CHANNEL_NAMES.flatMap((channel) =>
  Object.entries(ANSWERS[channel]).map(([name, answer]) => ({
    ...answer,
    name,
    channel,
    title: optionTitle(name, answer),
  })),
);

const optionsOf = (channels: readonly ChannelName[]) =>
  channels.flatMap((each) => Object.keys(ANSWERS[each]).map((name) => `--${name}`)).join(', ');

/** Throws `usage` or `file_unreadable`. */
export function readInputs(io: Io, options: SetupOptions): Inputs {
  const { channel } = options;
  const named = channel === undefined ? undefined : channelsIn(channel);
  const files = ALL.filter(({ variable }) => variable);
  refuseTwoReaders(Object.fromEntries(files.map(({ name }) => [`--${name}`, options[name]])));
  for (const each of ALL) {
    const value = options[each.name];
    if (value === undefined) continue;
    if (each.pattern && !each.pattern.test(value))
      throw invalidValue(value, each.title, `it is ${each.wanted}`);
    if (named && !named.includes(each.channel))
      throw usage(
        `the argument '${each.title}' cannot be used with '--channel ${channel}', which takes ${optionsOf(named)}`,
      );
  }
  const answers = Object.fromEntries(
    ALL.map(({ name, variable, what }) => {
      const given = options[name];
      return [name, variable ? secretIn(io, given, variable, what) : given];
    }),
  );
  const isMeant = (name: ChannelName) =>
    named?.includes(name) ??
    Object.keys(ANSWERS[name]).some((option) => answers[option] !== undefined);
  const meant = CHANNEL_NAMES.filter(isMeant);
  return {
    channels: meant.length > 0 ? meant : undefined,
    answers,
    stdinUsed: files.some(({ name }) => options[name] === '-'),
  };
}

function secretIn(
  io: Io,
  file: string | undefined,
  variable: string,
  what: string,
): string | undefined {
  if (file === undefined) return io.env[variable]?.trim() || undefined;
  const text = readGiven(io, file, FILE_MAX, what).trim();
  if (text === '') throw usage(`${what} is empty`);
  return text;
}

/** Throws `usage` naming what is missing; for when stdin is not a terminal. */
export function requireInputs(inputs: Inputs): asserts inputs is Inputs & {
  readonly channels: readonly ChannelName[];
} {
  const { channels, answers } = inputs;
  const needed = ALL.filter((each) => channels?.includes(each.channel) && !each.optional);
  const missing = needed
    .filter(({ name }) => answers[name] === undefined)
    .map(({ title, variable }) => (variable ? `${title} (or ${variable})` : title));
  if (channels === undefined) missing.push('--channel <CHANNEL>');
  if (missing.length === 0) return;
  throw notProvided(`${missing.join(', ')}; stdin is not a terminal`);
}
