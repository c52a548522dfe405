/** The code hosts: `code_hosts` of config.yml, the public ones, and the one called `default`. */
import { Failure } from '../foundation/failure.ts';
import type { Env } from '../foundation/io.ts';
import { isAppName } from '../foundation/names.ts';
import { httpAddress } from '../http/address.ts';
import { section } from '../yaml/schema.ts';
import type { Config } from './file.ts';
import { pick, placeOf, problemAt, sectionOf } from './settings.ts';

/** What speaks at a code host. Forgejo is another name of gitea. */
export type HostType = 'github' | 'gitlab' | 'gitea' | 'bitbucket' | 'git';

/** A code host; its addresses have no slash at the end. */
export interface CodeHost {
  /** `default`, or its name in `code_hosts`. */
  readonly name: string;
  readonly type: HostType;
  /** Undefined for `git`, which has no API. */
  readonly apiUrl: string | undefined;
  readonly gitUrl: string;
}

/** The host of `code_host_api_url` and `code_host_git_url`, and of apps that name no other. */
export const DEFAULT_HOST = 'default';

const publicHost = (name: string, type: HostType, apiUrl: string, gitUrl: string) =>
  ({ name, type, apiUrl, gitUrl }) as const;
const GITHUB = publicHost('github', 'github', 'https://api.github.com', 'https://github.com');
const BITBUCKET = publicHost(
  'bitbucket',
  'bitbucket',
  'https://api.bitbucket.org/2.0',
  'https://bitbucket.org',
);

/** Hosts that need no entry; one of the same name replaces them. */
const PUBLIC: readonly CodeHost[] = [
  GITHUB,
  publicHost('gitlab', 'gitlab', 'https://gitlab.com/api/v4', 'https://gitlab.com'),
  BITBUCKET,
  publicHost('codeberg', 'gitea', 'https://codeberg.org/api/v1', 'https://codeberg.org'),
];

/** Path of the API below the host's address. */
const API_PATH = { github: '/api/v3', gitlab: '/api/v4', gitea: '/api/v1' } as const;

/** All hosts: `default` first, then those of config.yml, then the public ones. Throws `config_invalid`, `insecure_address`. */
export function codeHostsOf(config: Config, env: Env): readonly CodeHost[] {
  const given = sectionOf(config, 'code_hosts') as Map<string, Map<string, unknown>>;
  const own = [...given].map(([name, values]) => hostFrom(config, name, values));
  const open = PUBLIC.filter(({ name }) => own.every((each) => each.name !== name));
  return [defaultHost(config, env), ...own, ...open];
}

/** The host of an app. Throws `config_invalid` if config.yml no longer has it. */
export function codeHostOf(config: Config, env: Env, name = DEFAULT_HOST): CodeHost {
  const hosts = codeHostsOf(config, env);
  const found = hosts.find((host) => host.name === name);
  if (found) return found;
  throw new Failure(
    'config_invalid',
    `${config.file.name}: code_hosts has no host '${name.slice(0, 80)}'${known(hosts)}`,
  );
}

/** The host `default`: environment, then config.yml, then GitHub. */
function defaultHost(config: Config, env: Env): CodeHost {
  const values = pick(config, ['code_host_api_url', 'code_host_git_url'], []);
  const choose = (variable: string, key: string, fallback: string) =>
    httpAddress(
      env[variable] || (values.get(key) as string | undefined) || fallback,
      env[variable] ? variable : placeOf(config, [key]),
    );
  return {
    name: DEFAULT_HOST,
    type: 'github',
    apiUrl: choose('RUNNER_CODE_HOST_API_URL', 'code_host_api_url', GITHUB.apiUrl),
    gitUrl: choose('RUNNER_CODE_HOST_GIT_URL', 'code_host_git_url', GITHUB.gitUrl),
  };
}

/** Apps whose tokens fetch a submodule of `app`, as an operator allows it in config.yml. */
export function submoduleTokensFrom(config: Config, app: string, repo: string): string[] {
  const given = section(sectionOf(config, 'submodules'), app) ?? new Map();
  const ofApp = given as Map<string, readonly string[]>;
  return [...ofApp.keys()].filter((other) => isAppName(other) && ofApp.get(other)?.includes(repo));
}

/** Whether the address of git is known to belong to the API's: a token must not go to another host. */
export function gitBelongsToApi(config: Config, env: Env, { name }: CodeHost): boolean {
  if (name !== DEFAULT_HOST) return true;
  const values = pick(config, ['code_host_api_url', 'code_host_git_url'], []);
  const has = (variable: string, key: string) => Boolean(env[variable] || values.get(key));
  return (
    has('RUNNER_CODE_HOST_GIT_URL', 'code_host_git_url') ||
    !has('RUNNER_CODE_HOST_API_URL', 'code_host_api_url')
  );
}

function hostFrom(config: Config, name: string, values: Map<string, unknown>): CodeHost {
  const place = (key: string) => placeOf(config, ['code_hosts', name, key]);
  const bad = (words: string) => problemAt(config, ['code_hosts', name], words);
  if (name === DEFAULT_HOST)
    throw bad("'default' is set by code_host_api_url and code_host_git_url");
  const written = values.get('type') as string;
  const type = (written === 'forgejo' ? 'gitea' : written) as HostType;
  const address = (key: string) => {
    const text = values.get(key) as string | undefined;
    return text === undefined ? undefined : httpAddress(text, place(key));
  };
  const api = address('api_url');
  const git = address('git_url') ?? gitFor(name, type, api);
  if (git === undefined) throw bad('needs the key git_url');
  return {
    name,
    type,
    apiUrl: type === 'git' ? undefined : apiFor(type, api, git),
    gitUrl: git,
  };
}

/** The address of git: that of the API without its path, the host in the entry's name, or the public one. */
function gitFor(name: string, type: HostType, api: string | undefined): string | undefined {
  if (type === 'github' && (!api || api === GITHUB.apiUrl) && !name.includes('.'))
    return GITHUB.gitUrl;
  if (type === 'bitbucket') return BITBUCKET.gitUrl;
  if (api) return api.replace(/\/api\/v\d$/, '');
  if (name.includes('.')) return `https://${name}`;
  return PUBLIC.find((host) => host.type === type && type === 'gitlab')?.gitUrl;
}

/** The whole address of the API: its fixed path may be left out. */
function apiFor(type: Exclude<HostType, 'git'>, api: string | undefined, git: string): string {
  if (type === 'bitbucket') {
    const base = api ?? BITBUCKET.apiUrl;
    return base.endsWith('/2.0') ? base : `${base}/2.0`;
  }
  if (type === 'github') return api ?? (git === GITHUB.gitUrl ? GITHUB.apiUrl : `${git}/api/v3`);
  const base = api ?? git;
  return base.endsWith(API_PATH[type]) ? base : `${base}${API_PATH[type]}`;
}

/** Names of hosts, at the end of a message. */
export function known(hosts: readonly CodeHost[]): string {
  return ` (known: ${hosts.map(({ name }) => name).join(', ')})`;
}
