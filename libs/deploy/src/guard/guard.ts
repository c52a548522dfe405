/** The guard: the network of commands that may reach only some hosts. */
import type { ChildProcess } from 'node:child_process';
import type { Socket as UdpSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { type HostRule, ruleFor } from '@runner/common/config/network';
import { type NetworkGuard, PROXY_PORT } from '../sandbox/guarded.ts';
import { askerAt, attemptsOf, isIn, processesIn } from './asker.ts';
import { addressesFor, dial, type Lookup, lookupAll } from './dial.ts';
import { HELLO_MAX, serverName } from './hello.ts';
import { HostNames, questionIn } from './names.ts';
import type { NetworkNotes, RefusalReason } from './notes.ts';
import { type GuardedConnection, openHttpRelay } from './relay.ts';

/** What commands may reach, and where it is noted. */
interface GuardRequest {
  readonly rules: readonly HostRule[];
  /** All public hosts may be reached. */
  readonly learns: boolean;
  readonly notes: NetworkNotes;
  /** For tests. */
  readonly lookup?: Lookup;
}

const [HTTPS, HTTP, SSH] = [443, 80, 22];
/** Sockets at a time, of commands and of hosts. */
const SOCKETS_MAX = 2_048;
/** Until the first message of TLS is there, in ms. */
const HELLO_TIME = 15_000;
/** How often connections that nothing takes are looked for, in ms: each lasts seconds. */
const ATTEMPTS_SEEN = 200;

export class HostGuard implements NetworkGuard {
  readonly ports: readonly number[];
  readonly learns: boolean;
  readonly #request: GuardRequest;
  readonly #names = new HostNames();
  readonly #relay: ReturnType<typeof openHttpRelay>;
  readonly #open = new Set<Socket>();
  /** The network namespace of the command. */
  #space = '';

  constructor(request: GuardRequest) {
    this.#request = request;
    this.learns = request.learns;
    const named = request.rules.map(({ port }) => port).filter((port) => port !== PROXY_PORT);
    this.ports = [...new Set([HTTPS, HTTP, SSH, ...named])];
    this.#relay = openHttpRelay({
      hostOf: (socket) => this.#names.nameOf(plain(socket.localAddress)),
      refuse: (asked, why) => this.#refuse(asked, why),
      reach: (asked) => this.#reach(asked),
      take: (asked, head) => this.#take(asked, head),
    });
  }

  carry(child: ChildProcess): void {
    const handles: (Server | UdpSocket)[] = [];
    child.on('message', (message, handle) => {
      const { port, space } = message as { port: number; space: string };
      this.#space = space;
      handles.push(handle as Server | UdpSocket);
      if (handle && 'send' in handle) this.#answerNames(handle as UdpSocket);
      else (handle as Server).on('connection', (socket) => this.#accept(socket, port));
    });
    child.on('error', () => {});
    const timer = setInterval(this.#attemptsNoter(), ATTEMPTS_SEEN).unref();
    child.once('exit', () => {
      clearInterval(timer);
      for (const handle of handles) handle.close();
      for (const socket of this.#open) socket.destroy();
    });
  }

  /** Notes connections to ports that nothing takes, each once. */
  #attemptsNoter(): () => void {
    let pid: number | undefined;
    let known = new Set<string>();
    return () => {
      const space = this.#space;
      if (space === '') return;
      if (pid === undefined || !isIn(pid, space)) [pid] = processesIn(space);
      const now = new Set<string>();
      for (const { from, address, port } of pid === undefined ? [] : attemptsOf(pid)) {
        const key = `${from} ${address} ${port}`;
        now.add(key);
        const host = this.#names.nameOf(address);
        if (!known.has(key) && !this.ports.includes(port))
          this.#request.notes.refuse(host ?? address, port, host ? 'unlisted' : 'address', () =>
            askerAt(space, 'tcp', from),
          );
      }
      known = now;
    };
  }

  #rule(host: string, port: number): HostRule | undefined {
    const { rules, learns } = this.#request;
    return ruleFor(rules, host, port) ?? (learns ? { host, port, isPrivate: false } : undefined);
  }

  #answerNames(names: UdpSocket): void {
    let last = '';
    names.on('error', () => {});
    names.on('message', (query, { port, address }) => {
      const question = questionIn(query);
      if (question === undefined) return;
      const { name } = question;
      const isListed = name !== '?' && this.ports.some((each) => this.#rule(name, each));
      const own = isListed ? this.#names.addressOf(name) : undefined;
      // One lookup asks for both kinds of addresses.
      const isSecond = last === `${port} ${name}`;
      last = `${port} ${name}`;
      // A program that is answered may end before it is looked for.
      if (own === undefined && !isSecond)
        this.#request.notes.refuse(name, null, isListed ? 'limit' : 'unlisted', () =>
          askerAt(this.#space, 'udp', port),
        );
      names.send(question.answer(own), port, address, () => {});
    });
  }

  #accept(socket: Socket, port: number): void {
    socket.on('error', () => {});
    socket.once('close', () => this.#open.delete(socket));
    this.#open.add(socket);
    socket.setNoDelay(true);
    // A program may end its half, and wait for the answer.
    socket.allowHalfOpen = true;
    const address = plain(socket.localAddress);
    const host = this.#names.nameOf(address);
    const asked = { socket, host: host ?? address, port };
    if (this.#open.size > SOCKETS_MAX) this.#refuse(asked, 'limit');
    else if (port !== PROXY_PORT && host === undefined) this.#refuse(asked, 'address');
    else if (port === PROXY_PORT || port === HTTP) this.#relay.emit('connection', socket);
    else this.#take(asked);
  }

  /** A connection whose bytes are passed on as they are; `head` are the first of them. */
  #take(asked: GuardedConnection, head: Buffer = Buffer.alloc(0)): void {
    const { host, port } = asked;
    if (!this.#rule(host, port)) this.#refuse(asked, 'unlisted');
    else if (port === HTTPS) this.#takeTls(asked, head);
    else void this.#pass(asked, head);
  }

  #takeTls(asked: GuardedConnection, head: Buffer): void {
    const { socket, host } = asked;
    let bytes = head;
    const timer = setTimeout(() => this.#refuse(asked, 'protocol'), HELLO_TIME);
    socket.once('close', () => clearTimeout(timer));
    const look = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const name = serverName(bytes);
      if (name === undefined && bytes.length <= HELLO_MAX) return;
      socket.off('data', look);
      clearTimeout(timer);
      if (name === host) void this.#pass(asked, bytes);
      else if (!name) this.#refuse(asked, 'protocol');
      else this.#refuse({ ...asked, host: name }, 'other_name');
    };
    socket.on('data', look);
    socket.resume();
    if (head.length > 0) look(Buffer.alloc(0));
  }

  async #pass(asked: GuardedConnection, head: Buffer): Promise<void> {
    const { socket } = asked;
    socket.pause();
    const far = await this.#reach(asked);
    if (!far) return;
    // Without an error what was sent still has to arrive.
    far.once('close', (isBroken) => isBroken && socket.destroy());
    socket.once('close', () => far.destroy());
    if (socket.destroyed) far.destroy();
    if (head.length > 0) far.write(head);
    socket.pipe(far);
    far.pipe(socket);
  }

  /** Connects to the host that the command wants. If it may not or cannot, closes its socket: undefined. */
  async #reach(asked: GuardedConnection): Promise<Socket | undefined> {
    const { socket, host, port } = asked;
    const { notes, lookup = lookupAll } = this.#request;
    const rule = this.#rule(host, port);
    if (!rule) return this.#refuse(asked, 'unlisted');
    try {
      const addresses = await addressesFor(lookup, host, rule.isPrivate).catch(() => undefined);
      if (addresses === undefined) return this.#refuse(asked, 'lookup');
      if (addresses === null) return this.#refuse(asked, 'private');
      const far = await dial(addresses, port);
      const bytes = () => ({ up: far.bytesWritten, down: far.bytesRead });
      const ended = notes.reached(host, port, bytes);
      this.#open.add(far);
      far.once('close', () => {
        this.#open.delete(far);
        ended();
      });
      return far;
    } catch {
      socket.destroy();
      return undefined;
    }
  }

  #refuse({ socket, host, port }: GuardedConnection, why: RefusalReason): undefined {
    const { notes } = this.#request;
    notes.refuse(host, port, why, () => askerAt(this.#space, 'tcp', socket.remotePort ?? 0));
    socket.destroy();
    return undefined;
  }
}

/** `127.64.0.1` of `::ffff:127.64.0.1`. */
const plain = (address = '') => address.replace(/^::ffff:/i, '');
