/** Pings servers and reads their state. */
import type { Context } from '@runner/common/cli/command';
import { FAILURE_CODES, Failure } from '@runner/common/foundation/failure';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import type { FleetServer } from '@runner/fleet/files/operator';
import { signedText } from '@runner/fleet/order/seal';
import { type ServerState, stateOf } from '@runner/fleet/order/state';

export interface Answer {
  readonly server: FleetServer;
  /** undefined: it did not answer. */
  readonly state: ServerState | undefined;
  /** There was a reply, but it is not signed by the server. */
  readonly isForeign: boolean;
  readonly ping_ms: number;
  /** How far the server's clock is ahead, in ms. */
  readonly skew: number;
}

/** Timeouts in ms: of a ping, and of one that has to contact the code host. */
const PING = 2_000;
const HEAD = 60_000;

/** Pings all servers at once; with `app`, each also resolves `ref` or the app's branch. */
export async function askAll(
  { io }: Pick<Context, 'io'>,
  broker: Broker,
  servers: readonly FleetServer[],
  question: { app?: string; ref?: string | undefined } = {},
): Promise<Answer[]> {
  return Promise.all(
    servers.map(async (server) => {
      const nonce = String(io.random());
      const began = io.elapsed();
      const timeout = question.app === undefined ? PING : HEAD;
      const text = JSON.stringify({ nonce, ...question });
      const answer = await broker.request(subjects.ping(server.server), text, timeout);
      const ping_ms = Math.round(io.elapsed() - began);
      const state = stateOf(signedText('state', answer ?? '', server) ?? '');
      if (state?.nonce !== nonce)
        return { server, state: undefined, isForeign: answer !== undefined, ping_ms, skew: 0 };
      const skew = Date.parse(state.at) - (io.now().getTime() - ping_ms / 2);
      return { server, state, isForeign: false, ping_ms, skew: Math.round(skew) };
    }),
  );
}

/** How many servers resolve the ref. */
const ASKED = 3;

/** The commit that the servers resolve `ref` or the branch to. Throws `commit_disagrees`, `server_offline`, `ref_not_found`, or what a server says. */
export async function commitOf(
  context: Pick<Context, 'io'>,
  broker: Broker,
  servers: readonly FleetServer[],
  app: string,
  ref: string | undefined,
): Promise<{ commit: string; version: string; agree: string[] }> {
  const answers = await askAll(context, broker, servers.slice(0, ASKED), { app, ref });
  const heads = answers.flatMap(({ server, state }) =>
    state?.head ? [{ server: server.server, ...state.head }] : [],
  );
  const [first] = heads;
  if (!first)
    throw new Failure(
      'server_offline',
      'no server could say which commit to deploy: try again, or use --ref with the full commit',
    );
  const bad = heads.find(({ commit, problem }) => commit === null || problem !== null);
  if (bad) {
    const code = FAILURE_CODES.find((each) => each === bad.code) ?? 'ref_not_found';
    throw new Failure(code, `${bad.server}: ${bad.problem}`);
  }
  const other = heads.find(({ commit }) => commit !== first.commit);
  if (other) {
    const says = ({ server, commit }: typeof first) => `${server} says ${commit?.slice(0, 12)}`;
    throw new Failure(
      'commit_disagrees',
      `${says(first)}, ${says(other)}: use --ref with the full commit`,
    );
  }
  const { commit, version } = first;
  return { commit: commit ?? '', version: version ?? '', agree: heads.map(({ server }) => server) };
}
