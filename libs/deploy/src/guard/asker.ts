/** Which command has a socket of a sandbox: what is seen in /proc, as far as it is. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { orElse } from '@runner/common/foundation/attempt';
import { harmlessLine } from '@runner/common/text/harmless';

/** Limit of a command and of the name of a package, in characters. */
const COMMAND_MAX = 120;
const PACKAGE_MAX = 80;
/** Limits of what is read: the environment is the commit's. */
const FILE_MAX = 1_048_576;

/** Variables in which package managers name the package whose script runs. */
const PACKAGES = ['npm_package_name', 'CARGO_PKG_NAME'];

/**
 * `package left-pad (node setup.js)`, or the command alone, of the process that has the socket with this local
 * port in the network namespace `space`, as /proc names it; undefined if it cannot be seen.
 */
export function askerAt(space: string, protocol: 'tcp' | 'udp', port: number): string | undefined {
  const all = names('/proc').filter((name) => /^\d+$/.test(name));
  const pids = all.filter((pid) => target(`/proc/${pid}/ns/net`) === space);
  const [first] = pids;
  const inode = first && inodeAt(first, protocol, port);
  if (inode === undefined) return undefined;
  const holds = (pid: string) =>
    names(`/proc/${pid}/fd`).some((fd) => target(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
  // A child may have inherited it: the newest process uses it.
  const pid = pids.reverse().find(holds);
  return pid === undefined ? undefined : wordsFor(pid);
}

function wordsFor(pid: string): string | undefined {
  const command = file(pid, 'cmdline').split('\0').join(' ').trim();
  const variables = new Map(
    file(pid, 'environ')
      .split('\0')
      .map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  const name = PACKAGES.map((each) => variables.get(each)).find(Boolean);
  const shown = short(command, COMMAND_MAX);
  return name === undefined ? shown || undefined : `package ${short(name, PACKAGE_MAX)} (${shown})`;
}

function inodeAt(pid: string, protocol: string, port: number): string | undefined {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const table of [protocol, `${protocol}6`])
    for (const line of file(pid, `net/${table}`).split('\n')) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(end) && fields[9] !== '0') return fields[9];
    }
  return undefined;
}

const names = (folder: string) => orElse(() => readdirSync(folder), []);
const target = (link: string) => orElse(() => readlinkSync(link), '');
const file = (pid: string, name: string) =>
  orElse(() => readFileSync(`/proc/${pid}/${name}`, 'utf8').slice(0, FILE_MAX), '');
const short = (text: string, most: number) => {
  const line = harmlessLine(text);
  return line.length > most ? `${line.slice(0, most)}…` : line;
};
