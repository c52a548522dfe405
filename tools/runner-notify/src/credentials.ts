/** The credentials of config.yml: whether they are there, and what is secret in them. */
import type { Config } from '@runner/common/config/file';
import type { ChannelName } from '@runner/common/config/settings';
import { digestOf, Secret } from '@runner/common/secrets/secret';
import type { Tree } from '@runner/common/yaml/schema';
import type { Credentials } from './channels/service.ts';
import { SERVICES } from './channels/services.ts';

/** A credential as it stands in section `notify`, else at the top level; empty when it is not set. */
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

/** All credentials, and those parts of them that are secret by themselves. */
export function secretsOf(credentials: Credentials): Secret[] {
  return Object.values(SERVICES)
    .flatMap((service) => service.secretsOf(credentials))
    .filter((text) => text !== '')
    .map((text) => new Secret(text));
}

/** Tells destinations apart without telling a secret: the rest of a destination's state is about this one. */
export function destinationDigest(credentials: Credentials, name: ChannelName): string {
  return digestOf(new Secret(SERVICES[name].identityOf(credentials)));
}
