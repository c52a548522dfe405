/** Heartbeat: signed replies to pings, and a stored copy of this server's state. */

import type { View } from '@runner/common/apps/instance-summary';
import { pauseOf } from '@runner/common/apps/operator';
import { DEFAULT_RETRIES } from '@runner/common/apps/retries';
import type { AppState } from '@runner/common/apps/state';
import { listApps, requireApp, type UnreadableApp } from '@runner/common/apps/store';
import { summaryOf } from '@runner/common/apps/summary';
import { Failure } from '@runner/common/foundation/failure';
import type { JsonObject } from '@runner/common/text/json';
import { viewOf } from '@runner/deploy/lifecycle/view';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { parsedValue } from '@runner/fleet/order/fields';
import {
  type AppOnServer,
  type PingQuestion,
  questionField,
  type ServerHead,
  type ServerState,
} from '@runner/fleet/order/state';
import type { Agent } from '../orders/agent.ts';
import { approvalWaits } from '../orders/refusal.ts';
import { runTool, shortened } from '../orders/tool.ts';
import { troubleOf, watchOfActive } from '../orders/trouble.ts';
import type { Junk } from './junk.ts';
import type { Shipper } from './ship.ts';

declare const __VERSION__: string;

/** The stored state, which `fleet status` shows for an offline server, is renewed after this time, in ms. */
const STATE_AGE = 60_000;

/** Longest wait for supervisors, in ms. */
const SUPERVISORS = 1_000;

/** Of the reason of a pause, in characters. */
const REASON_MAX = 300;

/** Of the versions of all instances, in characters. */
const VERSION_MAX = 255;

/** Replies to pings. Returns a function that stores the state if it has changed or is old. */
export function answerPings(
  agent: Agent,
  broker: Broker,
  { shipper, junk }: { readonly shipper: Shipper; readonly junk: Junk },
): () => Promise<void> {
  const { config, io, seal } = agent;
  const state = async (nonce: string): Promise<Omit<ServerState, 'head'>> => ({
    nonce,
    at: io.now().toISOString(),
    agent: __VERSION__,
    apps: await appsOf(agent),
    events: shipper.progress,
    junk: junk.count,
  });
  const sealed = (body: ServerState) => JSON.stringify(seal('state', JSON.stringify(body)));
  broker.reply(subjects.ping(config.server), async (text) => {
    // It is not signed: one that cannot be read gets a reply that no one waits for.
    const question = parsedValue(text, questionField) ?? { nonce: '' };
    const { nonce, app } = question;
    return sealed({
      ...(await state(nonce)),
      head: app === undefined ? null : await headOf(agent, app, question),
    });
  });
  let stored = '';
  let at = Number.NEGATIVE_INFINITY;
  return async () => {
    const { apps: all, unreadable } = listApps(agent.paths);
    const apps = JSON.stringify([all.map((app) => knownOf(app, io.now())), namesOf(unreadable)]);
    if (apps === stored && io.elapsed() - at < STATE_AGE) return;
    const answer = sealed({ ...(await state('')), head: null });
    await broker.store(subjects.state(config.server), answer).then(
      () => {
        [stored, at] = [apps, io.elapsed()];
      },
      // The next tick tries again.
      () => {},
    );
  };
}

/** Publishes which step of an order is running. Not stored, so a step may be missed. */
export function stepPublisher({ config, seal }: Agent, broker: Broker): NonNullable<Agent['step']> {
  return ({ id }, step) => {
    const text = JSON.stringify(seal('step', JSON.stringify({ order: id, step })));
    broker.publish(subjects.step(config.server, id), text);
  };
}

async function appsOf(agent: Agent): Promise<AppOnServer[]> {
  const { paths, io } = agent;
  const { apps, unreadable } = listApps(paths);
  const view = await viewNow(agent, apps);
  const nothing = { version: null, commit: null, held: null, state: 'unreadable' };
  const known = apps.map((app) => {
    const { state, plans } = summaryOf(paths, app, view);
    const watch = app.watch ? 'watching' : (watchOfActive(app)?.verdict ?? null);
    const waits = plans.find(({ approved }) => !approved);
    const words = waits ? shortened(`${waits.verb} of ${waits.version} ${waits.waits}`) : null;
    return { ...knownOf(app, io.now()), state, watch, waits: words };
  });
  return [...known, ...namesOf(unreadable).map((app) => ({ app, ...nothing }))];
}

const namesOf = (apps: readonly UnreadableApp[]) => apps.map(({ app }) => app);

/** Without supervisors that do not answer at once: a ping is answered soon. A config.yml with errors must not hide the server. */
async function viewNow({ io, paths }: Agent, apps: readonly AppState[]): Promise<View> {
  const offline = { retries: DEFAULT_RETRIES, now: io.now() };
  const late = new Promise<View>((resolve) => {
    setTimeout(() => resolve(offline), SUPERVISORS).unref();
  });
  return Promise.race([viewOf({ io, paths }, apps), late]).catch((error) => {
    if (error instanceof Failure) return offline;
    throw error;
  });
}

/** What is known of an app without asking anyone. */
function knownOf(app: AppState, now: Date): AppOnServer {
  const active = Object.values(app.instances).map(({ current }) => current);
  const versions = new Set(active.flatMap((each) => each?.version ?? []));
  const version = [...versions].join(',').slice(0, VERSION_MAX) || null;
  const [commit = null, ...others] = new Set(active.map((each) => each?.commit));
  return {
    app: app.app,
    version,
    // Instances that differ are behind: none of their commits is what the server runs.
    commit: others.length > 0 ? null : commit,
    ...holdOf(app, now),
  };
}

function holdOf(app: AppState, now: Date): Pick<AppOnServer, 'held' | 'held_by' | 'held_reason'> {
  const hold = app.stopped ?? pauseOf(app, now);
  const held = app.stopped ? 'stopped' : hold && 'paused';
  return {
    held,
    held_by: hold?.by ?? null,
    held_reason: hold?.reason?.slice(0, REASON_MAX) ?? null,
  };
}

/** For a question to the app's code host that came first. */
const WAIT = '20s';

/** Resolves `ref`, or the app's branch, with `runner-deploy --check`, or for `fetch` with `runner-fetch`. */
async function headOf(
  agent: Agent,
  app: string,
  { ref, fetch }: PingQuestion,
): Promise<ServerHead> {
  const wanted = ref === undefined ? [] : ['--ref', ref];
  // Another operator may ask at the same time.
  const check: [string, ...string[]] = ['runner-deploy', app, '--check', '--wait', WAIT, ...wanted];
  const { last } = await runTool(agent, fetch === true ? ['runner-fetch', app] : check);
  const { commit, version, problems, message, text, error } = last;
  const [problem] = Array.isArray(problems) ? problems.map(shortened) : [];
  const decision = fetch === true ? await decisionOf(agent, app, last) : undefined;
  if (typeof commit === 'string')
    return { commit, version: String(version), problem: problem ?? null, code: null, decision };
  const why = shortened(message ?? text ?? 'no answer');
  const code = typeof error === 'string' && /^\w{1,64}$/.test(error) ? error : null;
  return { commit: null, version: null, problem: why, code, decision };
}

/** What `runner-fetch` decided, unless what runs there is not to go to other servers. */
async function decisionOf(
  agent: Agent,
  app: string,
  { result, text, commit, version }: JsonObject,
): Promise<ServerHead['decision']> {
  const waits =
    result === 'new_commit' ? await approvalWaits(agent, app, String(commit)) : undefined;
  if (waits !== undefined)
    return { result: 'approval', text: shortened(`${String(version)} ${waits}`) };
  const trouble =
    result === 'up_to_date' ? await troubleOf(agent, requireApp(agent.paths, app)) : undefined;
  return { result: trouble?.code ?? String(result), text: shortened(trouble?.message ?? text) };
}
