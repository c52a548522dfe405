/**
 * `npm run bench -- zero-drop`: deploys under load through nginx, Caddy and HAProxy. Every fifth version
 * is unhealthy, crashes, hangs or is deaf; then commands are killed and the proxy is restarted. No request may
 * fail with `traffic`; without it, and with a reload of nginx, some do: the controls. Options: see OPTIONS.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { freePort } from '@runner/testing/app';
import { REAL_PROXIES, type RealProxy, type RealProxyName } from '@runner/testing/real-proxy';
import type { Manner } from '@runner/testing/traffic-app';
import type { Kind } from './zero-drop/app.ts';
import { killCommands, restartProxy } from './zero-drop/kills.ts';
import type { Counted } from './zero-drop/load-control.ts';
import { type Place, type Setting, underLoad } from './zero-drop/place.ts';

const OPTIONS = {
  deploys: { type: 'string', default: '100' },
  /** Requests a second. */
  rate: { type: 'string', default: '200' },
  kills: { type: 'string', default: '40' },
  /** Deploys in which the proxy is restarted. */
  restarts: { type: 'string', default: '20' },
  /** Only this proxy. */
  proxy: { type: 'string' },
  /** Latencies are printed, not judged. */
  'no-latency': { type: 'boolean', default: false },
} as const;
const { values } = parseArgs({ options: OPTIONS });
const [deploys, rate, kills, restarts] = [
  values.deploys,
  values.rate,
  values.kills,
  values.restarts,
].map(Number) as [number, number, number, number];
/** Deploys of the other kinds of app, and of the controls. */
const few = Math.ceil(deploys / 10);

const say = (text: string) => process.stdout.write(`${text}\n`);
const problems: string[] = [];
/** Rows for which there was a proxy. */
let measured = 0;

const SOCKET = 'traffic: { type: socket, drain: 5s }\n';
/** Longer than the streams; WebSockets are held until it is over. */
const HELD = 32_000;
const HELD_SOCKET = `traffic: { type: socket, drain: ${HELD}ms }\n`;
const BAD: readonly Manner[] = ['unhealthy', 'crashing', 'hanging', 'deaf'];

/** Deploys again and again; of every 20 one is held up by streams and WebSockets. */
async function deployAll({ ship, load }: Place, count: number, hold: (is: boolean) => void) {
  for (let number = 1; number <= count; number += 1) {
    const isBad = number % 5 === 0;
    const isHeld = number % 20 === 2 && count >= 20;
    hold(isHeld);
    if (isHeld) await load.order('hold');
    const manner = isBad ? (BAD[(number / 5) % BAD.length] as Manner) : 'good';
    const { status, stderr } = await ship(`v${number}`, manner);
    if ((status === 0) === isBad) throw new Error(`deploy of v${number} ended so: ${stderr}`);
  }
}

function print(proxy: string, what: string, done: string, counted: Counted): void {
  measured += 1;
  const { requests, failed, streams, sockets, stale } = counted;
  const times = [counted.p99Before, counted.p99Deploy, counted.p99Switch, stale];
  const cells = [proxy, what, done, requests, `**${failed}**`, streams, sockets];
  say(
    `| ${[...cells, ...times.map((each) => (Number.isNaN(each) ? '–' : each.toFixed(1)))].join(' | ')} |`,
  );
  for (const line of counted.words) say(`  ${line}`);
}

function judge(proxy: string, what: string, counted: Counted): void {
  const { failed, p99Before, p99Switch, stale } = counted;
  const expect = (holds: boolean, words: string) => {
    if (!holds) problems.push(`${proxy}, ${what}: ${words}`);
  };
  expect(failed === 0, `${failed} requests failed`);
  expect(stale === 0, `the version before got requests for ${stale} ms`);
  if (!values['no-latency'])
    expect(!(p99Switch > p99Before + 10), `p99 ${p99Switch} ms, before ${p99Before} ms`);
}

/** A row of deploys with a socket. */
async function withSocket(proxy: RealProxyName, kind: Kind, count: number): Promise<void> {
  let isHeld = false;
  const traffic = () => (isHeld ? HELD_SOCKET : SOCKET);
  const seen = await underLoad({ proxy, rate, kind, traffic }, (place) =>
    deployAll(place, count, (is) => {
      isHeld = is;
    }),
  );
  if (!seen) {
    say(`| ${proxy} | not available: it is not installed |`);
    return;
  }
  const { counted, memory } = seen;
  const what = { rude: 'no SIGTERM handler', polite: 'SIGTERM handler', python: 'Python' }[kind];
  print(proxy, what, `${count} deploys`, counted);
  judge(proxy, what, counted);
  const good = count - Math.floor(count / 5);
  if (counted.versions.length !== good + 1)
    problems.push(`${proxy}, ${what}: ${counted.versions.length} versions answered`);
  if (counted.drained < HELD)
    problems.push(`${proxy}, ${what}: a WebSocket was closed after ${counted.drained} ms`);
  const held =
    counted.drained < Infinity
      ? `; first WebSocket closed after ${(counted.drained / 1000).toFixed(1)} s`
      : '';
  const mb = `memory ${memory.two.toFixed(0)} MB, ${memory.one.toFixed(0)} MB with one version`;
  say(`  ${mb}, ${memory.after.toFixed(0)} ms after the drain${held}`);
  if (memory.after > 2000) problems.push(`${proxy}, ${what}: two versions after the drain`);
}

async function withKills(proxy: RealProxyName): Promise<void> {
  let killed = '';
  const setting = { proxy, rate, traffic: () => SOCKET };
  const seen = await underLoad(setting, async (place) => {
    const each = await killCommands(place, kills);
    killed = Object.entries(each)
      .map(([phase, count]) => `${phase} ${count}`)
      .join(', ');
  });
  if (!seen) return;
  print(proxy, 'kill -9', killed, seen.counted);
  judge(proxy, 'kill -9', { ...seen.counted, stale: 0, p99Switch: 0 });
}

async function withRestarts(proxy: RealProxyName): Promise<void> {
  const setting = { proxy, rate, traffic: () => SOCKET };
  const seen = await underLoad(setting, (place) => restartProxy(place, restarts));
  if (!seen) return;
  const what = `proxy restarted`;
  print(proxy, what, `${restarts} deploys`, seen.counted);
  say(`  ${seen.counted.cut} requests were under way when the proxy itself was stopped`);
  judge(proxy, what, { ...seen.counted, stale: 0, p99Switch: 0 });
}

/** A control has to lose requests: a harness that cannot fail proves nothing. */
async function control(what: string, setting: Setting): Promise<void> {
  const seen = await underLoad(setting, (place) => deployAll(place, few, () => {}));
  if (!seen) return;
  // Where `live` does not decide who gets the requests, its renaming dates nothing.
  const counted = { ...seen.counted, words: [], stale: Number.NaN };
  print(setting.proxy, `control: ${what}`, `${few} deploys`, counted);
  if (seen.counted.failed === 0) problems.push(`the control '${what}' lost nothing`);
}

/** One version is stopped before the next one starts. */
async function withoutTraffic(): Promise<void> {
  const port = await freePort();
  const traffic = () => `instances: { default: { env: { PORT: "${port}" } } }\n`;
  await control('no traffic', { proxy: 'haproxy', rate, traffic, backend: () => ({ port }) });
}

/** nginx reads its configuration again, and the version before is not waited for. */
async function withReload(): Promise<void> {
  const ports = [await freePort(), await freePort()] as const;
  const move = ({ config, pid }: RealProxy) => {
    const script = `${config}.sh`;
    const edit = `sed -i "s|http://127.0.0.1:[0-9]*;|http://127.0.0.1:$PORT;|" '${config}'`;
    writeFileSync(script, `${edit} && kill -HUP ${pid}\n`);
    return `sh ${script}`;
  };
  const traffic = (proxy?: RealProxy) =>
    `traffic: { type: command, ports: [${ports}], run: "${proxy ? move(proxy) : 'true'}", drain: 1ms }\n`;
  const backend = () => ({ port: ports[0] });
  await control('nginx -s reload', { proxy: 'nginx', rate, traffic, backend });
}

/** One that cannot be measured does not keep the others from it. */
async function row(measure: () => Promise<void>): Promise<void> {
  await measure().catch((error: Error) => problems.push(error.message));
}

async function main(): Promise<void> {
  say(`# Deploys under load: about ${rate} requests a second\n`);
  const titles = ['proxy', 'app', 'done', 'requests', 'failed', 'streams', 'WebSockets'];
  const times = ['p99 ms', 'in a deploy', 'at a switch', 'stale ms'];
  say(`| ${[...titles, ...times].join(' | ')} |\n|${'---|'.repeat(11)}`);
  const names = REAL_PROXIES.filter((name) => values.proxy === undefined || values.proxy === name);
  for (const name of names) {
    await row(() => withSocket(name, 'rude', deploys));
    await row(() => withSocket(name, 'polite', few));
    await row(() => withSocket(name, 'python', few));
    if (kills > 0) await row(() => withKills(name));
    if (restarts > 0) await row(() => withRestarts(name));
  }
  if (names.includes('haproxy')) await row(withoutTraffic);
  if (names.includes('nginx')) await row(withReload);
  for (const each of problems) say(`\nnot kept: ${each}`);
  if (measured === 0) say('\nskipped: no proxy is installed');
  else if (problems.length === 0) say('\nno request was lost with traffic; each control lost some');
  process.exitCode = problems.length === 0 ? 0 : 1;
}

void main();
