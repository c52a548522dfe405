/** The credentials of config.yml: which channels have theirs and are active, what is secret, and connecting. */
import {
  CHANNEL_NAMES,
  type ChannelName,
  channelsOf,
  type DestinationName,
} from '@runner/common/config/channels';
import type { Config } from '@runner/common/config/file';
import { NO_CHANNEL, type NotifySettings, SET_UP } from '@runner/common/config/settings';
import type { TelemetrySettings } from '@runner/common/config/telemetry';
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import type { Io } from '@runner/common/foundation/io';
import { redactor } from '@runner/common/secrets/redactor';
import { digestOf, Secret } from '@runner/common/secrets/secret';
import type { Tree } from '@runner/common/yaml/schema';
import type { Channel, Credentials, RequestLine } from '../service/contract.ts';
import { CHANNELS } from './index.ts';

/** A credential in section `notify`, else at the top level; empty when it is not set. */
export function credentialAt(config: Config, key: string): string {
  const path = key.split('.');
  const found = [['notify', ...path], path].map((each) => textAt(config.tree, each));
  return found.find((text) => text !== undefined) ?? '';
}

/** The text of a value, the texts of a list; undefined when it is not there. */
function textAt(tree: Tree | undefined, path: readonly string[]): string | undefined {
  const [key, ...rest] = path;
  if (key !== undefined) {
    const entry = tree?.kind === 'map' ? tree.entries.find((each) => each.key === key) : undefined;
    return textAt(entry?.value, rest);
  }
  if (tree?.kind === 'list') return tree.items.map((each) => textAt(each, []) ?? '').join(', ');
  if (tree?.kind !== 'scalar' || tree.value === null) return undefined;
  return (typeof tree.value === 'string' ? tree.value : tree.source).trim();
}

/** A redactor that knows all credentials, and their parts that are secret on their own. */
export function redactorOf(
  credentials: Credentials,
  others: readonly Secret[] = [],
): (text: string) => string {
  const secrets = Object.values(CHANNELS)
    .flatMap((service) => service.secretsOf(credentials))
    .filter((text) => text !== '')
    .map((text) => new Secret(text));
  return redactor([...secrets, ...others]);
}

/** Identifies a destination without revealing a secret: its saved state belongs to this digest. */
export function destinationDigest(
  credentials: Credentials & { readonly telemetry?: TelemetrySettings },
  name: DestinationName,
): string {
  if (isTelemetry(name)) {
    const { url = '', headers = {}, org = '' } = credentials.telemetry?.[name] ?? {};
    const values = Object.values(headers).map((each) => each.reveal());
    return digestOf(new Secret([url, org, ...values].join('\n')));
  }
  // The code host of each app: one destination.
  const identity = name === 'code-host' ? name : CHANNELS[name].identityOf(credentials);
  return digestOf(new Secret(identity));
}

/** A line whose redactor knows the credentials. */
export function lineOf(
  credentials: Credentials,
  env: Io['env'],
  signal?: AbortSignal,
): RequestLine {
  return { env, redact: redactorOf(credentials), signal };
}

/** Undefined when the credentials of the channel are not set. */
export function connect(
  name: ChannelName,
  credentials: Credentials,
  env: Io['env'],
  signal?: AbortSignal,
): Channel | undefined {
  return CHANNELS[name].connect(credentials, lineOf(credentials, env, signal));
}

/** One sentence on `wanted` channels of which none is active: the first key in the way, else what to run. */
export function whyInactive(
  config: Config,
  settings: NotifySettings,
  wanted: readonly ChannelName[] = CHANNEL_NAMES,
): string {
  const [only] = wanted;
  const none = wanted.length === 1 ? `${only} is not active` : NO_CHANNEL;
  const file = config.file.name;
  const missingOf = (name: ChannelName) =>
    CHANNELS[name].credentials.filter((key) => credentialAt(config, key) === '');
  const { channel } = settings;
  const ready = wanted.find((name) => settings[name] !== undefined);
  if (ready !== undefined && channel !== undefined) {
    const named = channelsOf(channel);
    const [first] = named;
    const missing =
      first === undefined || settings[first] ? '' : `, and ${notSet(missingOf(first))}`;
    const said = [channel].flat().join(', ') || 'an empty list';
    const both = channelsOf('both').includes(ready) && named.length === 1 ? ' or both' : '';
    return `${none}: notify.channel is ${said}${missing}; set notify.channel to ${ready}${both} in ${file}`;
  }
  const half = wanted.find((name) => {
    const count = missingOf(name).length;
    return count > 0 && count < CHANNELS[name].credentials.length;
  });
  if (half !== undefined) return `${none}: ${notSet(missingOf(half))} in ${file}`;
  return `${none}: ${SET_UP}, or see section notify of ${file}`;
}

function notSet(keys: readonly string[]): string {
  return `${keys.join(' and ')} ${keys.length === 1 ? 'is' : 'are'} not set`;
}
