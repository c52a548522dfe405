/** Where an app has a new commit, as `runner fetch` on the servers decides. */
import type { Context } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Broker } from '@runner/fleet/broker/nats';
import type { FleetServer } from '@runner/fleet/files/operator';
import { agreedCommit, headsOf, problemOf } from './presence.ts';

/** Decisions about the commit, not about the server: if one server made it, the others get no order. */
const OF_COMMIT = new Set([
  'blocked',
  'held',
  'waiting',
  'checking',
  'checks_failed',
  'young',
  'approval',
  // It is active there, and not good.
  'not_running',
  'watching',
  'watch_bad',
]);

/** Notes why servers are left out. Throws `commit_disagrees`, or what the servers say if none could look. */
export async function newCommit(
  context: Pick<Context, 'io' | 'note'>,
  broker: Broker,
  servers: readonly FleetServer[],
  app: string,
) {
  const heads = await headsOf(context, broker, servers, { app, fetch: true });
  const bad = heads.filter(({ commit }) => commit === null);
  const [first] = bad;
  if (first && bad.length === heads.length) throw problemOf(first);
  const say = (server: FleetServer, text: string) =>
    context.note(`${harmlessLine(app)}: ${server.server}: ${harmlessLine(text)}`);
  for (const { server, problem } of bad) say(server, problem ?? '');
  const found = heads.filter(({ commit }) => commit !== null);
  const fresh = found.filter(({ decision }) => decision?.result === 'new_commit');
  for (const { server, decision } of found)
    if (decision && !['new_commit', 'up_to_date'].includes(decision.result))
      say(server, decision.text);
  const isLeft = found.some(({ decision }) => OF_COMMIT.has(decision?.result ?? ''));
  return {
    ...(agreedCommit(fresh) ?? { commit: null, version: null }),
    /** Where to deploy it. */
    servers: isLeft ? [] : fresh.map(({ server }) => server),
    /** 1 if a server could not look. */
    status: bad.length > 0 ? EXIT.failed : EXIT.ok,
  };
}
