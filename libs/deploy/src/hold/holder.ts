/** The process that holds the requests of an app: it lets them wait or answers with a page, and passes on what waits at the end. */
import { readlinkSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrafficHold } from '@runner/common/apps/operator';
import { asleepSince, holdFolder, isHeld, liveLink, socketIn } from '@runner/common/apps/slots';
import { findApp } from '@runner/common/apps/store';
import { takeLock } from '@runner/common/files/lock';
import { makeFolder, readTextIfThere, removeIfThere } from '@runner/common/files/read';
import { orElse, unlessFailure } from '@runner/common/foundation/attempt';
import type { InstancePaths } from '@runner/common/foundation/paths';
import { dial } from '../instances/dial.ts';
import { type HoldPlace, keepHoldAnyway, pageIn } from './traffic.ts';

/** Between two looks at the state, in milliseconds. */
const POLL = 100;
/** Without a connection for so long after the end the door closes, in ms: a proxy may have found the way before. */
const LATE = 2_000;
/**
 * Connections that are passed on and not answered yet, and how long an answer is waited for, in ms: all at once
 * would fill the app's queue (128 is common), and what the proxy sends it meanwhile would be refused.
 */
const [AT_ONCE, ANSWER] = [32, 100];
/** Bytes of a waiting request that are read. */
const BEGINNING = 65_536;
/** Bytes of a page. */
export const PAGE_MAX = 1_048_576;

/** Holds what the state says until it no longer does. Resolves with whether it had something to hold. */
export async function carryHold(place: HoldPlace): Promise<boolean> {
  const { io, paths, app } = place;
  const now = () => {
    const hold = findApp(paths, app)?.traffic_hold ?? undefined;
    return hold && hold.until > io.now().toISOString() ? hold : undefined;
  };
  const since = io.now().toISOString();
  const lock = takeLock(paths.holdLock(app), 0, { pid: io.pid, command: 'hold-traffic', since });
  const hold = lock && now();
  if (!lock || !hold) {
    lock?.release();
    return false;
  }
  const doors = hold.instances.map((name) => openDoor(paths.app(app).instance(name), now));
  try {
    await Promise.all(doors.map(({ opened }) => opened));
    // Another hold may follow at once. What still queues at a door would be lost if it closed.
    for (let over = 0; over < LATE; over += POLL) {
      await sleep(POLL);
      await keepHoldAnyway(place);
      const isOver = !now();
      if (isOver) for (const door of doors) door.release();
      if (!isOver || doors.some((door) => door.wasUsed())) over = 0;
    }
  } finally {
    for (const door of doors) door.close();
    lock.release();
  }
  await keepHoldAnyway(place);
  // The last answers, which another hold may not wait for.
  while (doors.some(({ passed }) => passed.size > 0)) await sleep(POLL);
  return true;
}

/** Where the requests of an instance are held. */
function openDoor(own: InstancePaths, hold: () => TrafficHold | undefined) {
  const { createServer } = process.getBuiltinModule('node:net');
  const pages = pageServer(own, hold);
  const waiting = new Map<Socket, () => void>();
  const passed = new Set<Socket>();
  const unanswered = new Set<Socket>();
  const pass = (socket: Socket) => {
    passed.add(socket.once('close', () => passed.delete(socket)));
    void passOn(socket, own, unanswered);
  };
  let isUsed = false;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    isUsed = true;
    socket.on('error', () => socket.destroy());
    const held = hold();
    if (!held) pass(socket);
    else if (held.page) pages.emit('connection', socket);
    else wait(socket, waiting);
  });
  makeFolder(holdFolder(own));
  const path = socketIn(holdFolder(own));
  removeIfThere(path);
  return {
    opened: new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path, writableAll: true, readableAll: true, backlog: 4_096 }, resolve);
    }),
    /** Whether a connection has come since it was last asked. */
    wasUsed() {
      const was = isUsed;
      isUsed = false;
      return was;
    },
    /** Passes on what waits. */
    release() {
      for (const [socket, giveBack] of [...waiting]) {
        giveBack();
        pass(socket);
      }
      pages.closeIdleConnections();
    },
    /** Connections that were passed on and are open. */
    passed,
    close: () => void server.close(),
  };
}

/** Reads the beginning of what waits, and puts it back at the end. Who gives up meanwhile must not reach the app later. */
function wait(socket: Socket, waiting: Map<Socket, () => void>): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const read = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= BEGINNING) socket.pause();
  };
  const giveUp = () => socket.destroy();
  const forget = () => void waiting.delete(socket);
  socket.on('data', read).once('end', giveUp).once('close', forget);
  waiting.set(socket, () => {
    forget();
    socket.off('data', read).off('end', giveUp).off('close', forget);
    // It may be passed on a moment later: until then nothing is read.
    socket.pause().unshift(Buffer.concat(chunks));
  });
}

/** Passes a connection on to what is live now, both ways, as it comes. */
async function passOn(socket: Socket, own: InstancePaths, unanswered: Set<Socket>): Promise<void> {
  // The state says first that a hold has ended, and the link follows.
  while (isHeld(own) || unanswered.size >= AT_ONCE) await sleep(10);
  const done = () => void unanswered.delete(socket);
  unanswered.add(socket.once('close', done));
  const app = await dial(socket, () => {
    const path = socketIn(liveLink(own));
    // While it sleeps, that is a link of runner to the waker.
    return asleepSince(own) ? orElse(() => readlinkSync(path), path) : path;
  });
  if (!app) {
    done();
    return void socket.destroy();
  }
  app.on('error', () => socket.destroy());
  app.once('close', () => socket.destroySoon());
  socket.once('close', () => app.destroySoon());
  socket.pipe(app);
  app.pipe(socket);
  app.once('data', done);
  setTimeout(done, ANSWER).unref();
}

/** Answers every request with the page. */
function pageServer(own: InstancePaths, hold: () => TrafficHold | undefined): HttpServer {
  return process.getBuiltinModule('node:http').createServer((request, response) => {
    request.resume();
    const text = unlessFailure(() => readTextIfThere(pageIn(own), PAGE_MAX), undefined) ?? '';
    const rest = Date.parse(hold()?.until ?? '') - Date.now();
    response.writeHead(503, {
      'content-type': `text/${/^\s*</.test(text) ? 'html' : 'plain'}; charset=utf-8`,
      'retry-after': String(Math.max(1, Math.ceil((rest || 0) / 1_000))),
      'cache-control': 'no-store',
      connection: 'close',
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  });
}
