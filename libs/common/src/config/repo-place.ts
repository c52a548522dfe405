/** Which repository on which code host a text means: `owner/name`, `gitlab:group/sub/name`, an address. */
import { Failure } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { repoName } from '../foundation/names.ts';
import type { Paths } from '../foundation/paths.ts';
import { type CodeHost, codeHostsOf, DEFAULT_HOST, known } from './code-hosts.ts';

/** A repository on a host. */
export interface RepoPlace {
  readonly host: CodeHost;
  /** `owner/name`, also with groups in groups. */
  readonly repo: string;
}

/** A repository as a state names it: without a host it is on `default`. */
export type RecordedPlace = Awaited<ReturnType<typeof placeOfRepo>>;

/**
 * Finds `owner/name`, which needs no configuration, `<host>:group/sub/name`, or an address of a known
 * host. Throws `name_invalid`.
 */
export async function placeOfRepo({ paths, io }: HostQuestion, given: string) {
  const text = asAddress(given);
  if (!namesHost(text)) return { repo: repoName(text) };
  const { hosts, found } = await searched({ paths, io }, text);
  if (!found) {
    const { name, git_url } = unknownHost(text);
    const address = git_url === undefined ? '' : `, git_url: ${git_url}`;
    throw new Failure(
      'name_invalid',
      `the repository is on no known code host${known(hosts)}: add its host, with its type, to ${paths.config}: code_hosts: { ${name}: { type: git${address} } }`,
    );
  }
  const { host } = found;
  const repo = repoName(found.repo, partsOf(host));
  return host.name === DEFAULT_HOST ? { repo } : { host: host.name, repo };
}

/** Whether a text is an address on a host that has no entry. */
export async function isElsewhere(at: HostQuestion, given: string): Promise<boolean> {
  const text = asAddress(given);
  return namesHost(text) && !(await searched(at, text)).found;
}

/** Browsers show and copy an address without its scheme: `github.com/owner/name`. */
const asAddress = (text: string) =>
  /^[\w-]+(?:\.[\w-]+)+(?:\/[^/:]+){2,}\/?$/.test(text) ? `https://${text}` : text;

/** `file:///srv/shop` names none. */
const namesHost = (text: string) => text.includes(':') && unknownHost(text).name !== '';

interface HostQuestion {
  readonly paths: Paths;
  readonly io: Pick<Io, 'env'>;
}

async function searched({ paths, io }: HostQuestion, text: string) {
  // Reading YAML is slow to load.
  const { readConfig } = await import('./file.ts');
  const hosts = codeHostsOf(readConfig(paths), io.env);
  return { hosts, found: placeByName(hosts, text) ?? placeAt(hosts, text) };
}

/** What to know about an address for git over SSH; undefined for any other. */
export function sshNote(text: string, { repo }: RecordedPlace): string | undefined {
  const isSsh = /^(?:ssh|git\+ssh):\/\//i.test(text) || /^[^@/:]+@[^/:@]+:/.test(text);
  if (!isSsh) return undefined;
  return `runner does not use SSH: ${repo} is cloned over https, with a token instead of a deploy key`;
}

function placeByName(hosts: readonly CodeHost[], text: string): RepoPlace | undefined {
  const at = text.indexOf(':');
  const host = hosts.find(({ name }) => name === text.slice(0, at));
  return host && { host, repo: text.slice(at + 1) };
}

/** How many parts the name of a repository has on a host. */
export function partsOf({ type }: CodeHost): readonly [least: number, most: number] {
  if (type === 'gitlab') return [2, 21];
  return type === 'git' ? [1, 21] : [2, 2];
}

/** The entry in `code_hosts` that the host of an address needs, without a login that the address may contain. */
export function unknownHost(given: string): { name: string; git_url?: string } {
  const address = asAddress(given);
  const { hostname, host, origin } = URL.canParse(address) ? new URL(address) : NO_ADDRESS;
  const name = hostname || (SCP.exec(address)?.[1] ?? '');
  if (hostname !== '' && host !== hostname)
    return { name, git_url: origin === 'null' ? `https://${name}` : origin };
  return name.includes('.') ? { name } : { name, git_url: 'https://…' };
}

const NO_ADDRESS = { hostname: '', host: '', origin: '' };

/**
 * The host and path of an address of any kind; undefined if it is on no known host. Of several hosts the one
 * with the longest address has it.
 */
export function placeAt(hosts: readonly CodeHost[], address: string): RepoPlace | undefined {
  const found = hosts.flatMap((host) => {
    const repo = pathOn(host, address);
    return repo === undefined ? [] : [{ host, repo }];
  });
  const [first] = found.sort((one, other) => one.repo.length - other.repo.length);
  return first;
}

/** `git@host:owner/name`. */
const SCP = /^(?:[^@/:]+@)?([^/:@]+):(?!\/)(.+)$/;

function pathOn({ gitUrl }: CodeHost, address: string): string | undefined {
  const host = new URL(gitUrl);
  const scp = SCP.exec(address);
  if (scp) return scp[1]?.toLowerCase() === host.hostname ? clean(scp[2] as string) : undefined;
  if (!/^(?:https?|ssh|git|git\+ssh):\/\//i.test(address) || !URL.canParse(address))
    return undefined;
  const { protocol, hostname, port, pathname } = new URL(address);
  const isWeb = /^https?:$/.test(protocol);
  if (hostname.toLowerCase() !== host.hostname || (isWeb && port !== host.port)) return undefined;
  const prefix = isWeb ? host.pathname.replace(/\/$/, '') : '';
  return pathname.startsWith(`${prefix}/`) ? clean(pathname.slice(prefix.length)) : undefined;
}

function clean(path: string): string {
  return path.replace(/^\/+|\/+$/g, '');
}
