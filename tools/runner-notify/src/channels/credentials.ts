/** The credentials of config.yml: whether they are set, what is secret in them, and connecting with them. */
import type { Config } from '@runner/common/config/file';
import type { ChannelName } from '@runner/common/config/settings';
import type { Io } from '@runner/common/foundation/io';
import { digestOf, redactor, Secret } from '@runner/common/secrets/secret';
import type { Tree } from '@runner/common/yaml/schema';
import type { Channel, Credentials, Line } from '../service/contract.ts';
import { CHANNELS } from './index.ts';

/** A credential in section `notify`, else at the top level; empty when it is not set. */
export function credentialAt(config: Config, key: string): string {
  const section = entryOf(config.tree, 'notify');
  const found = [entryOf(section, key), entryOf(config.tree, key)].find(
    (value) => value?.kind === 'scalar' && value.value !== null,
  );
  if (found?.kind !== 'scalar') return '';
  return (typeof found.value === 'string' ? found.value : found.source).trim();
}

function entryOf(tree: Tree | undefined, key: string): Tree | undefined {
  return tree?.kind === 'map' ? tree.entries.find((each) => each.key === key)?.value : undefined;
}

/** A redactor that knows all credentials, and their parts that are secret on their own. */
export function redactorOf(credentials: Credentials): (text: string) => string {
  const secrets = Object.values(CHANNELS)
    .flatMap((service) => service.secretsOf(credentials))
    .filter((text) => text !== '')
    .map((text) => new Secret(text));
  return redactor(secrets);
}

/** Identifies a destination without revealing a secret: its saved state belongs to this digest. */
export function destinationDigest(credentials: Credentials, name: ChannelName): string {
  return digestOf(new Secret(CHANNELS[name].identityOf(credentials)));
}

/** A line whose redactor knows the credentials. */
export function lineOf(credentials: Credentials, env: Io['env'], signal?: AbortSignal): Line {
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
