/** Signed answers to the question whether this server is there, and what runs on it. */
import { type AppState, pauseOf } from '@runner/common/apps/state';
import { listApps } from '@runner/common/apps/store';
import { isAppName } from '@runner/common/foundation/names';
import { jsonObject } from '@runner/common/text/json';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { type Sealed, seal } from '@runner/fleet/order/seal';
import type { AppOnServer, ServerState } from '@runner/fleet/order/state';
import type { Agent } from '../orders/agent.ts';
import { runTool } from '../orders/carry-out.ts';
import type { Shipper } from './ship.ts';

declare const __VERSION__: string;

/** How old the stored state may be: what `fleet status` says of a server that is away. In ms. */
const STATE_AGE = 60_000;

/** Answers pings; returns how to store the state, if it has changed or is old. */
export function beThere(agent: Agent, broker: Broker, shipper: Shipper): () => Promise<void> {
  const { config, io, signKey } = agent;
  const state = (nonce: string): Omit<ServerState, 'head'> => ({
    ...{ nonce, at: io.now().toISOString(), agent: __VERSION__ },
    ...{ apps: appsOf(agent), events: shipper.progress },
  });
  const sealed = (body: ServerState): Sealed =>
    seal('state', config.server, JSON.stringify(body), signKey);
  broker.answer(subjects.ping(config.server), async (text) => {
    const { nonce = '', app, ref } = jsonObject(text) ?? {};
    const head = typeof app === 'string' && isAppName(app) ? await headOf(agent, app, ref) : null;
    return JSON.stringify(sealed({ ...state(String(nonce).slice(0, 64)), head }));
  });
  let stored = '';
  let at = Number.NEGATIVE_INFINITY;
  return async () => {
    const apps = JSON.stringify(appsOf(agent));
    if (apps === stored && io.elapsed() - at < STATE_AGE) return;
    const answer = JSON.stringify(sealed({ ...state(''), head: null }));
    await broker.store(subjects.state(config.server), answer).then(
      () => {
        [stored, at] = [apps, io.elapsed()];
      },
      // The next tick tries again.
      () => {},
    );
  };
}

/** Says which step of an order runs; what is lost is lost. */
export function stepsTo({ config, signKey }: Agent, broker: Broker): NonNullable<Agent['step']> {
  return ({ id }, step) => {
    const body = JSON.stringify({ order: id, step });
    const text = JSON.stringify(seal('step', config.server, body, signKey));
    broker.say(subjects.step(config.server, id), text);
  };
}

function appsOf({ io, paths }: Agent): AppOnServer[] {
  return listApps(paths).apps.map((app) => {
    const [current] = Object.values(app.instances).map((each) => each.current);
    const { version = null, commit = null } = current ?? {};
    return { app: app.app, version, commit, held: heldWord(app, io.now()) };
  });
}

function heldWord(app: AppState, now: Date): string | null {
  if (app.stopped) return 'stopped';
  return pauseOf(app, now) ? 'paused' : null;
}

const NO_HEAD = { commit: null, version: null, problem: null, code: null };

/** What the branch of an app, or `ref`, means here; deploys nothing. */
async function headOf(agent: Agent, app: string, ref: unknown): Promise<ServerState['head']> {
  const wanted = typeof ref === 'string' && /^[^-]/.test(ref) ? ['--ref', ref] : [];
  const { last } = await runTool(agent, ['runner-deploy', app, '--check', ...wanted]);
  const [problem] = Array.isArray(last.problems) ? last.problems.map(String) : [];
  if (typeof last.commit !== 'string')
    return { ...NO_HEAD, problem: String(last.message ?? 'no answer'), code: String(last.error) };
  const { commit, version } = last;
  return { ...NO_HEAD, commit, version: String(version), problem: problem ?? null };
}
