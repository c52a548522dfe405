/** When a package was published, as its registry says. No registry is known here: lock files and npm name them. */
import type { Io } from '@runner/common/foundation/io';
import { send } from '@runner/common/http/request';
import { isObject } from '@runner/common/text/json';
import { timeOfIso } from '@runner/common/text/time';
import { isPrivateAddress, lookupAll } from '../guard/dial.ts';
import { ask } from '../instances/drivers/ask.ts';
import type { LockedPackage } from './package.ts';

/** For one answer, in ms. */
const TIMEOUT = 20_000;
/** The document of a package with many versions is large. In bytes. */
const ANSWER_MAX = 33_554_432;

/** Where registries are found. */
export interface RegistryRequest {
  readonly io: Io;
  readonly signal: AbortSignal;
  /** The text of files of the commit that may name registries. */
  readonly configuration: string;
}

/** `registry=`, `@scope:registry=` of npm, `npmRegistryServer:` of Yarn. */
const SETTING =
  /^[ \t]*(?:(@[^\s:=]+):)?(?:registry[ \t]*=|npmRegistryServer:)[ \t]*["']?(https?:[^\s"']+)/gm;

/** Finds the registry of a package, with a slash at its end; undefined: its archive is from nowhere known. */
export function registryFinder({ io, configuration }: Omit<RegistryRequest, 'signal'>) {
  const set = new Map(
    [...configuration.matchAll(SETTING)].map(([, scope = '', url]) => [scope, url]),
  );
  let servers: string | undefined;
  // What npm is configured to on this server; the commit has no say in it.
  const ofServer = () => {
    servers ??= ask('npm', ['config', 'get', 'registry'], {
      env: npmEnvironment(io),
    }).stdout.trim();
    return servers === '' ? undefined : servers;
  };
  const find = ({ name, version, archive }: LockedPackage): string | undefined => {
    if (archive === null) return undefined;
    if (archive === undefined) {
      const found = set.get(name.split('/')[0] ?? '') ?? set.get('') ?? ofServer();
      return found?.replace(/\/*$/, '/');
    }
    // The address must be that of this version: else its age would say nothing of what is installed.
    const file = `${name.replace(/^.*\//, '')}-${version.replace(/\+.*/, '')}.tgz`;
    const [address = ''] = archive.split(/[?#]/);
    const end = [name, name.replace('/', '%2f'), name.replace('/', '%2F')]
      .map((each) => `${each}/-/${file}`)
      .find((each) => address.endsWith(`/${each}`));
    return end && address.slice(0, -end.length);
  };
  /** A commit must not make runner ask this machine or its network: those only if npm here is set to them. */
  const mayAsk = async (registry: string): Promise<boolean> => {
    if (!URL.canParse(registry)) return false;
    const { hostname, origin, username } = new URL(registry);
    if (username !== '') return false;
    const host = hostname.replace(/^\[|\]$/g, '');
    const addresses = await lookupAll(host).catch(() => []);
    if (!addresses.some(isPrivateAddress)) return true;
    const own = ofServer();
    return own !== undefined && URL.canParse(own) && new URL(own).origin === origin;
  };
  return { find, mayAsk };
}

/** Nothing but what says where npm and its configuration are. */
function npmEnvironment({ env }: Io): Record<string, string> {
  const passed = Object.entries(env).filter(([name]) =>
    /^(?:PATH|HOME|npm_config_.*)$/i.test(name),
  );
  return Object.fromEntries(passed) as Record<string, string>;
}

/**
 * Asks registries for when the versions of a package were published, in ms since 1970; undefined: not known.
 * Never throws: what cannot be had is not known.
 */
export function timesFrom({ io, signal }: Pick<RegistryRequest, 'io' | 'signal'>) {
  return async (
    registry: string,
    name: string,
  ): Promise<(version: string) => number | undefined> => {
    try {
      const answer = await send({
        method: 'GET',
        url: `${registry}${name.replace('/', '%2f')}`,
        headers: { accept: 'application/json' },
        timeout: TIMEOUT,
        limit: ANSWER_MAX,
        env: io.env,
        signal,
      });
      const document: unknown = answer.status === 200 ? JSON.parse(answer.body) : undefined;
      const times = isObject(document) && isObject(document.time) ? document.time : {};
      return (version) => {
        const time = Object.hasOwn(times, version) ? timeOfIso(String(times[version])) : Number.NaN;
        return Number.isNaN(time) ? undefined : time;
      };
    } catch {
      return () => undefined;
    }
  };
}
