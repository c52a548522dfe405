/** Section `telemetry` of config.yml: where each deploy is recorded. */
import { httpAddress } from '../http/address.ts';
import { Secret } from '../secrets/secret.ts';
import { section } from '../yaml/schema.ts';
import type { Config } from './file.ts';
import { placeOf, sectionOf } from './settings.ts';
import type { TelemetryName } from './telemetry-schema.ts';

/** The services that are configured. */
export type TelemetrySettings = { readonly [N in TelemetryName]?: TelemetryTarget };

/** Throws `config_invalid` or `insecure_address`. */
export function telemetryOf(config: Config): TelemetrySettings {
  const all = sectionOf(config, 'telemetry');
  const targets = [...all.keys()].map((name) => [
    name,
    targetOf(config, name, section(all, name) ?? new Map()),
  ]);
  return Object.fromEntries(targets);
}

/** A service: where it is, and what each request carries; `org` and `projects` are Sentry's. */
export type TelemetryTarget = ReturnType<typeof targetOf>;

function targetOf(config: Config, name: string, values: Map<string, unknown>) {
  const url = String(values.get('url') ?? 'https://sentry.io');
  const token = values.get('token');
  const headers: [string, unknown][] =
    token === undefined
      ? [...(section(values, 'headers') ?? [])]
      : [['authorization', `Bearer ${token}`]];
  return {
    /** Without a slash at its end. */
    url: httpAddress(url, placeOf(config, ['telemetry', name, 'url'])),
    headers: Object.fromEntries(headers.map(([key, value]) => [key, new Secret(String(value))])),
    org: String(values.get('org') ?? ''),
    projects: (values.get('projects') ?? []) as string[],
  };
}
