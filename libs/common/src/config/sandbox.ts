/** `sandbox` and `build` in config.yml: how the commands of a repository are confined on this server. */
import { previewedApp } from '../foundation/names.ts';
import { section } from '../yaml/schema.ts';
import { type BuildLimits, limitsIn } from './build-limits.ts';
import type { Config } from './file.ts';
import { type Network, networkIn } from './network.ts';
import { packageAgeIn } from './package-age.ts';
import { pick, sectionOf } from './settings.ts';

/** When commands run in the sandbox: where it works, always, or never. */
export type SandboxMode = 'auto' | 'required' | 'off';

/** The setting for one app. */
export interface SandboxSetting {
  readonly mode: SandboxMode;
  /** Paths that its commands may also use, e.g. the socket of docker. */
  readonly allow: readonly string[];
}

/** The setting for an app; `fallback` is the mode of a server whose config.yml has none. */
export function sandboxSettingOf(
  config: Config,
  app: string,
  fallback: SandboxMode = 'auto',
): SandboxSetting {
  // Whatever the operator allows an app, and whatever can be read of it.
  if (previewedApp(app) !== undefined) return { mode: 'required', allow: [] };
  const value = pick(config, ['sandbox'], []).get('sandbox');
  if (!(value instanceof Map)) return { mode: (value as SandboxMode) ?? fallback, allow: [] };
  const ofApp = (key: string): unknown => (value.get(key) as Map<string, unknown>)?.get(app);
  return {
    mode: (ofApp('apps') ?? value.get('mode') ?? fallback) as SandboxMode,
    allow: (ofApp('allow') ?? []) as string[],
  };
}

/** The limits of this server for the builds of an app. Throws `config_invalid`. */
export function buildLimitsOf(config: Config, app: string): BuildLimits {
  const all = limitsIn(sectionOf(config, 'build'));
  return { ...all, network: networkCeiling(config, app) ?? all.network };
}

/** `build.min_package_age`: the least age that the operator asks for, in ms. Throws `config_invalid`. */
export function packageAgeFloor(config: Config): number {
  return packageAgeIn(sectionOf(config, 'build').get('min_package_age'));
}

/** `sandbox.network` for an app: the hosts that its commands may reach at most. Throws `config_invalid`. */
export function networkCeiling(config: Config, app: string): Network | undefined {
  const lists = section(sectionOf(config, 'sandbox'), 'network');
  return lists?.has(app) ? networkIn(lists.get(app)) : undefined;
}
