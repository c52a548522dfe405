/** Health checks: asking an instance until it is healthy, or its time is up. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Health } from '@runner/common/deploy-file/health';
import { expand } from '@runner/common/deploy-file/variables';
import { describeExit, succeeded } from '../run/child.ts';
import { addressOf, heldBy, holds } from '../run/listeners.ts';
import {
  loggedFailure,
  refuseInterrupted,
  StepFailure,
  shellStep,
  tryStep,
  withOutput,
} from '../run/step.ts';
import type { Started, Target } from './drivers/driver.ts';
import { localPort } from './ports.ts';
import { connect } from './reach.ts';
import { otherAppOn, withPortHolder } from './stranger.ts';

/** Why an instance is not healthy. Undefined if it is healthy. */
type HealthProblem =
  | {
      words: string;
      output: string;
      /** An answer with a wrong status: that, which a body need not say. */
      answer?: string;
      /** There was no answer in time. */
      late?: boolean;
      /** Nothing listens at the address. */
      isRefused?: boolean;
    }
  | undefined;

/** How long before the end of `within` the last check begins at the latest, in milliseconds. */
const LAST = 250;

/**
 * Checks every `interval`, for up to `within`, until the target answers as it should. Throws a
 * StepFailure of stage `health` with the last problem, at once if the process has died.
 */
export async function waitHealthy(health: Health, target: Target, started: Started): Promise<void> {
  const { signal, log } = target;
  const until = performance.now() + health.within;
  const last = Math.min(LAST, health.interval);
  let problem: HealthProblem;
  for (let attempt = 1; ; attempt += 1) {
    const left = Math.max(1, Math.ceil(until - performance.now()));
    const found =
      (await ask(health, target, Math.min(health.timeout, left))) ??
      notFromTarget(health, target, started);
    const death = started.death();
    if (death) {
      const failure = loggedFailure(log, 'health', `health: ${death.words}`, death.output);
      throw withPortHolder(target, failure);
    }
    if (!found) return;
    log.line(`health: attempt ${attempt}: ${found.words}`);
    // The last attempt may have had too little time: the problem before it says more.
    if (!problem || !found.late || left >= health.timeout) problem = found;
    refuseInterrupted(signal, 'health');
    if (performance.now() + last >= until) {
      const where = elsewhere(health, target, started, problem.isRefused);
      const headline = `health: ${problem.words}, not healthy within ${health.within / 1000} s${where}`;
      const { output, answer } = problem;
      const printed = started.output?.() ?? '';
      const isSilent = output.trim() === '';
      // An answer may say only that something is wrong: what the app complained of comes first.
      if (!isSilent && printed.trim() !== '') log.line(printed.trimEnd());
      // The output of a command is in the log already.
      const failure =
        health.kind === 'cmd'
          ? new StepFailure('health', headline, { output })
          : loggedFailure(log, 'health', headline, output);
      const all = isSilent ? withOutput(failure, log, printed) : failure;
      const seen = answer && `health: ${answer}`;
      throw new StepFailure('health', headline, { ...all, seen, printed: isSilent ? '' : printed });
    }
    const rest = Math.min(health.interval, until - last - performance.now());
    await sleep(rest, undefined, { signal }).catch(() => {});
  }
}

/** Asks once. What is wrong, in words; undefined if the target is healthy. */
export async function whatIsWrong(health: Health, target: Target): Promise<string | undefined> {
  return (await ask(health, target, health.timeout))?.words;
}

/** What is asked, and its port if that is one of this machine. */
function askedOf({ kind, target: text }: Health, { env }: Target) {
  if (kind === 'cmd') return { address: text, port: undefined };
  const address = expand(text, env);
  return { address, port: localPort(address) };
}

/** An answer counts only if it comes from what was started. */
function notFromTarget(health: Health, target: Target, started: Started): HealthProblem {
  const { address, port } = askedOf(health, target);
  const stranger =
    port === undefined
      ? started.stranger?.()
      : started.strangerOn
        ? started.strangerOn(port)
        : otherAppOn(target, port);
  if (stranger === undefined) return undefined;
  return { words: `${address} is answered by ${stranger}, not by what was started`, output: '' };
}

/** Where the app listens instead of where it is asked; '' if it does not, or that is not known. */
function elsewhere(health: Health, target: Target, { pids }: Started, isRefused = false): string {
  const { port } = askedOf(health, target);
  const own = port === undefined ? [] : (pids?.() ?? []);
  const held = heldBy(own);
  const ports = [...new Set(held.map((each) => each.port))];
  if (port !== undefined && ports.length > 0 && !ports.includes(port))
    return `; the app listens on ${ports.join(', ')}, not on ${port}`;
  const isHidden = own.length === 0 || own.some((pid) => holds(pid, []) === undefined);
  if (!isRefused || isHidden) return '';
  return ports.length === 0
    ? '; the app listens on no port: if it only needs longer, raise health.within'
    : `; the app listens on ${held.map(addressOf).join(', ')}`;
}

async function ask(health: Health, target: Target, timeout: number): Promise<HealthProblem> {
  const { address } = askedOf(health, target);
  if (health.kind === 'url') return askUrl(health, address, target, timeout);
  if (health.kind === 'tcp') return askTcp(address, timeout);
  const { release: cwd, env, log, signal } = target;
  const confinement = target.confine('hook');
  const step = shellStep({ stage: 'health', command: address, cwd, env, timeout, confinement });
  const { exit, output } = await tryStep(log, signal, step);
  const words = `\`${address}\` ${describeExit(exit, timeout)}`;
  return succeeded(exit) ? undefined : { words, output, late: exit.timedOut };
}

function askUrl(
  { expect: [low, high] }: Health,
  address: string,
  { redact, env }: Target,
  timeout: number,
): Promise<HealthProblem> {
  const wanted = low === high ? String(low) : `${low}-${high}`;
  return new Promise((resolve) => {
    const fail = (words: string, seen: { late?: boolean; isRefused?: boolean } = {}) =>
      resolve({ words: `${address} ${words}`, output: '', ...seen });
    if (!URL.canParse(address)) return fail('is not an address');
    // Loaded on demand: most deploys do not need them.
    const { get } = process.getBuiltinModule(
      address.startsWith('https:') ? 'node:https' : 'node:http',
    );
    const request = get(
      address,
      { signal: AbortSignal.timeout(timeout), agent: false, ...socketOf(address, env.PORT) },
      (response) => {
        const status = response.statusCode ?? 0;
        let body = '';
        response.on('data', (chunk: Buffer) => {
          if (body.length < 2_048) body += chunk.toString('utf8');
          else response.destroy();
        });
        response.on('error', () => {});
        response.on('close', () => {
          if (status >= low && status <= high) resolve(undefined);
          else {
            const { location } = response.headers;
            // Django and Rails refuse a host that they do not know.
            const hint = location
              ? ` (to ${redact(location).slice(0, 200)})`
              : status === 400 || status === 403
                ? ` (does the app accept the host ${new URL(address).host}?)`
                : '';
            const answer = `answered ${status} instead of ${wanted}${hint}`;
            // Alone, an `ok` would read as the verdict.
            const output = body.trim() && `body: ${redact(body).slice(0, 2_048)}`;
            resolve({ words: `${address} ${answer}`, output, answer });
          }
        });
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => {
      const late = error.name === 'AbortError' || error.name === 'TimeoutError';
      fail(
        late
          ? `did not answer within ${Math.round(timeout) / 1000} s`
          : `cannot be reached (${error.code})`,
        { late, isRefused: error.code === 'ECONNREFUSED' },
      );
    });
  });
}

/** For `http://unix/…`: the socket that PORT names. */
function socketOf(address: string, port: string | undefined): { socketPath?: string } {
  if (port === undefined || !port.startsWith('/')) return {};
  return new URL(address).hostname === 'unix' ? { socketPath: port } : {};
}

/** Whether something accepts connections at `host:port`, within `timeout` ms. */
export async function askTcp(address: string, timeout: number): Promise<HealthProblem> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(at + 1));
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return { words: `${address} is not host:port`, output: '' };
  const problem = await connect({ host, port, timeout });
  if (problem === 'timeout')
    return { words: `${address} did not accept a connection`, output: '', late: true };
  if (problem === undefined) return undefined;
  const isRefused = problem === 'ECONNREFUSED';
  return { words: `${address} cannot be reached (${problem})`, output: '', isRefused };
}
