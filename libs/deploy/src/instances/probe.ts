/** The prober: asks an instance again and again during a deploy, as its users do, and keeps count. */

import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isHeld, liveLink, liveSlot, socketIn } from '@runner/common/apps/slots';
import { expand } from '@runner/common/deploy-file/variables';
import type { Target } from './drivers/driver.ts';
import { portOf } from './place.ts';
import { localPort } from './ports.ts';
import { type Address, accepts } from './reach.ts';

/** Between two probes, and the longest time for one, in milliseconds. */
const INTERVAL = 100;
const PATIENCE = 5_000;
/** How long the last probe may be repeated until there is an answer. */
const LAST = 2_000;

/** What a prober saw. */
export interface Seen {
  readonly probes: number;
  /** Longest time without an answer, in milliseconds; 0 if every probe was answered. */
  readonly gap_ms: number;
}

/** Ends the probes; undefined if the instance did not answer at the beginning either. */
export type Prober = () => Promise<Seen | undefined>;

/** Begins to ask an instance as its users reach it; what has no address is not asked. */
export async function startProber(target: Target): Promise<Prober> {
  const probe = probeOf(target);
  if (!probe || !(await probe())) return async () => undefined;
  let ended = false;
  let probes = 1;
  let gap = 0;
  let silentSince: number | undefined;
  const once = async () => {
    const at = performance.now();
    const isAnswered = await probe();
    probes += 1;
    if (!isAnswered) silentSince ??= at;
    if (silentSince === undefined) return;
    gap = Math.max(gap, performance.now() - silentSince);
    if (isAnswered) silentSince = undefined;
  };
  const run = (async () => {
    while (!ended) {
      await once();
      if (!ended) await sleep(INTERVAL);
    }
  })();
  return async () => {
    ended = true;
    await run;
    const until = performance.now() + LAST;
    while (silentSince !== undefined && performance.now() < until) {
      await sleep(INTERVAL);
      await once();
    }
    return { probes, gap_ms: Math.round(gap) };
  };
}

/** `84 probes, none failed`, or `the app did not answer for 3.5 s`. */
export function seenWords({ probes, gap_ms: gap }: Seen): string {
  return gap === 0
    ? `${probes} probes, none failed`
    : `the app did not answer for ${(gap / 1000).toFixed(1)} s`;
}

/** Ends probers: all probes, and the longest gap; undefined if there was nothing to ask. */
export async function whatWasSeen(probers: readonly Prober[]): Promise<Seen | undefined> {
  const all = await Promise.all(probers.map((end) => end()));
  const seen = all.filter((each) => each !== undefined);
  if (seen.length === 0) return undefined;
  const sum = seen.reduce((probes, each) => probes + each.probes, 0);
  return { probes: sum, gap_ms: Math.max(...seen.map(({ gap_ms }) => gap_ms)) };
}

/** One question; resolves with whether it was answered. Undefined without an address to ask. */
function probeOf(target: Target): (() => Promise<boolean>) | undefined {
  const { health, start } = target.file;
  const { traffic } = target.instance;
  if (start.type === 'none' || !health) return undefined;
  const url = health.kind === 'url' ? expand(health.target, target.env) : undefined;
  if (url?.startsWith('https:')) return undefined;
  const path = url === undefined ? undefined : new URL(url).pathname + new URL(url).search;
  const to = traffic ? () => liveAddress(target) : () => ownAddress(target);
  if (!traffic && ownAddress(target) === undefined) return undefined;
  return async () => {
    const address = to();
    if (address === undefined) return false;
    return path === undefined ? accepts(address) : answers(address, path);
  };
}

/** As the proxy finds it: through `live`, at each request. */
function liveAddress({ instance: { traffic }, paths }: Target): Address | undefined {
  const own = { dir: dirname(paths.shared) };
  const live = liveSlot(own);
  if (live === undefined || !traffic) return undefined;
  const port = portOf(traffic, live);
  // What holds requests would not answer.
  const dir = isHeld(own) ? join(own.dir, live) : liveLink(own);
  return port === undefined ? { socketPath: socketIn(dir) } : { port };
}

function ownAddress({ file: { health }, env }: Target): Address | undefined {
  if (!health || health.kind === 'cmd') return undefined;
  const port = localPort(expand(health.target, env));
  return port === undefined ? undefined : { port };
}

/** Whether there is an HTTP answer that is not the server's fault. */
function answers(address: Address, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const { get } = process.getBuiltinModule('node:http');
    const request = get({ ...address, path, signal, agent: false }, (response) => {
      response.resume();
      response.on('error', () => resolve(false));
      response.on('end', () => resolve((response.statusCode ?? 500) < 500));
    });
    request.on('error', () => resolve(false));
  });
}
