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
  const pids = all.filter((pid) => isIn(pid, space));
  const [first] = pids;
  const inode = first && inodeAt(first, protocol, port);
  if (inode === undefined) return undefined;
  const holds = (pid: string) =>
    names(`/proc/${pid}/fd`).some((fd) => target(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
  // A child may have inherited it: the newest process uses it.
  const pid = pids.reverse().find(holds);
  return pid === undefined ? undefined : wordsFor(pid);
}

const SYN_SENT = '02';

/** A process in a network namespace; undefined if there is none. */
export function processIn(space: string): string | undefined {
  return names('/proc').find((pid) => /^\d+$/.test(pid) && isIn(pid, space));
}

/** Whether a process is in a network namespace. */
export function isIn(pid: string, space: string): boolean {
  return target(`/proc/${pid}/ns/net`) === space;
}

/** The connections that are being tried in the network namespace of a process; `from` is their own port. */
export function attemptsOf(pid: string) {
  return ['tcp', 'tcp6'].flatMap((table) =>
    file(pid, `net/${table}`)
      .split('\n')
      .flatMap((line) => {
        const [, own = '', far = '', state] = line.trim().split(/\s+/);
        if (state !== SYN_SENT) return [];
        const [address = '', port] = far.split(':');
        return [{ from: portIn(own), address: addressIn(address), port: portIn(`:${port}`) }];
      }),
  );
}

const portIn = (place: string) => Number.parseInt(place.slice(place.indexOf(':') + 1), 16);

/** `127.0.0.1` of `0100007F`: words of four bytes, the last byte first. */
function addressIn(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (/^0{20}FFFF0000/.test(hex)) return bytes.slice(12).join('.');
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => Buffer.from(bytes).readUInt16BE(at * 2));
  const text = groups.map((group) => group.toString(16)).join(':');
  return new URL(`http://[${text}]`).hostname.slice(1, -1);
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
