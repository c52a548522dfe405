/** Which command has a socket of a sandbox: what is seen in /proc, as far as it is. */
import { readFileSync, readlinkSync } from 'node:fs';
import { orElse } from '@runner/common/foundation/attempt';
import { harmlessLine } from '@runner/common/text/harmless';
import { holds, socketsOf } from '../run/listeners.ts';
import { allProcesses, environmentOf } from '../run/processes.ts';

/** Limit of a command and of the name of a package, in characters. */
const COMMAND_MAX = 120;
const PACKAGE_MAX = 80;
/** Limit of the command that is read, in characters: it is the commit's. */
const READ_MAX = 1_048_576;

/** Variables in which package managers name the package whose script runs. */
const PACKAGES = ['npm_package_name', 'CARGO_PKG_NAME'];

/**
 * `package left-pad (node setup.js)`, or the command alone, of the process that has the socket with this local
 * port in the network namespace `space`, as /proc names it; undefined if it cannot be seen.
 */
export function askerAt(space: string, protocol: 'tcp' | 'udp', port: number): string | undefined {
  const pids = processesIn(space);
  const [first] = pids;
  const sockets = first === undefined ? [] : socketsOf(protocol, first);
  const asking = sockets.find((each) => each.port === port && each.socket !== 'socket:[0]');
  if (!asking) return undefined;
  // A child may have inherited it: the newest process uses it.
  const pid = pids.reverse().find((each) => holds(each, [asking]));
  return pid === undefined ? undefined : wordsFor(pid);
}

const SYN_SENT = '02';

/** The processes in a network namespace. */
export function processesIn(space: string): number[] {
  return allProcesses().filter((pid) => isIn(pid, space));
}

/** Whether a process is in a network namespace. */
export function isIn(pid: number, space: string): boolean {
  return orElse(() => readlinkSync(`/proc/${pid}/ns/net`), '') === space;
}

/** The connections that are being tried in the network namespace of a process; `from` is their own port. */
export function attemptsOf(pid: number) {
  const tried = socketsOf('tcp', pid).filter(({ state }) => state === SYN_SENT);
  return tried.map(({ port: from, far }) => {
    const [address = '', port = ''] = far.split(':');
    return { from, address: addressIn(address), port: Number.parseInt(port, 16) };
  });
}

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

function wordsFor(pid: number): string | undefined {
  const read = () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').slice(0, READ_MAX);
  const command = orElse(read, '').split('\0').join(' ').trim();
  const variables = environmentOf(pid);
  const name = PACKAGES.map((each) => variables[each]).find(Boolean);
  const shown = short(command, COMMAND_MAX);
  return name === undefined ? shown || undefined : `package ${short(name, PACKAGE_MAX)} (${shown})`;
}

const short = (text: string, most: number) => {
  const line = harmlessLine(text);
  return line.length > most ? `${line.slice(0, most)}…` : line;
};
