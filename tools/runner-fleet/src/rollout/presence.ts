/** Pings servers and reads their state. */
import type { Context } from '@runner/common/cli/command';
import { FAILURE_CODES, Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import type { FleetServer } from '@runner/fleet/files/operator';
import { isCommit } from '@runner/fleet/order/order';
import { type Received, receive } from '@runner/fleet/order/received';
import {
  type PingQuestion,
  type ServerHead,
  type ServerState,
  stateField,
} from '@runner/fleet/order/state';

/** Timeouts in ms: of a ping, and of one that has to contact the code host. */
const PING = 2_000;
const HEAD = 60_000;

export type PingReply = Awaited<ReturnType<typeof askAll>>[number];

/** Pings all servers at once. */
export async function askAll(
  { io }: Pick<Context, 'io'>,
  broker: Broker,
  servers: readonly FleetServer[],
  question: Omit<PingQuestion, 'nonce'> = {},
) {
  return Promise.all(
    servers.map(async (server) => {
      const nonce = String(io.random());
      const began = io.elapsed();
      const timeout = question.app === undefined ? PING : HEAD;
      const text = JSON.stringify({ nonce, ...question });
      const answer = await broker.request(subjects.ping(server.server), text, timeout);
      const ping_ms = Math.round(io.elapsed() - began);
      const nothing = {
        server,
        /** undefined: it did not answer, or its reply does not count, because of `problem`. */
        state: undefined as ServerState | undefined,
        problem: undefined as string | undefined,
        ping_ms,
        /** How far the server's clock is ahead, in ms. */
        skew: 0,
      };
      if (answer === undefined) return nothing;
      const received = receive('state', answer, server, stateField);
      if ('problem' in received) return { ...nothing, problem: received.problem };
      const state = received.value;
      if (state.nonce !== nonce)
        return { ...nothing, problem: `${server.server} repeated the reply to another ping` };
      const skew = Date.parse(state.at) - (io.now().getTime() - ping_ms / 2);
      return { ...nothing, state, skew: Math.round(skew) };
    }),
  );
}

/** The state that a server stored last; undefined if there is none. */
export async function lastState(
  broker: Broker,
  server: FleetServer,
): Promise<Received<ServerState> | undefined> {
  const stored = await broker.last('STATE', subjects.state(server.server));
  return stored && receive('state', stored.text, server, stateField);
}

/** What a server says about the head. */
export type HeadThere = ServerHead & { readonly server: FleetServer };

/** The answers of the servers that answer; notes which replies do not count. */
export async function headsOf(
  context: Pick<Context, 'io' | 'note'>,
  broker: Broker,
  servers: readonly FleetServer[],
  question: Omit<PingQuestion, 'nonce'>,
): Promise<HeadThere[]> {
  const answers = await askAll(context, broker, servers, question);
  for (const { problem } of answers) if (problem !== undefined) context.note(harmlessLine(problem));
  return answers.flatMap(({ server, state }) => (state?.head ? [{ ...state.head, server }] : []));
}

/** How many servers are asked at once, and how many must say the same. */
const ASKED = 3;
const AGREEING = 2;

interface WantedCommit {
  readonly app: string;
  /** undefined: the app's branch. */
  readonly ref: string | undefined;
  /** How many servers will get the order. */
  readonly targets: number;
}

/**
 * The commit that the operator named in full, or that two servers resolve `ref` or the branch to: one server that lies
 * must not choose for another. Throws `commit_disagrees`, `server_offline`, `ref_not_found`, or what a server says.
 */
export async function commitOf(
  context: Pick<Context, 'io' | 'note'>,
  broker: Broker,
  servers: readonly FleetServer[],
  { app, ref, targets }: WantedCommit,
): Promise<{ commit: string; version: string }> {
  const heads: HeadThere[] = [];
  for (let from = 0; from < servers.length && heads.length < AGREEING; from += ASKED)
    heads.push(
      ...(await headsOf(context, broker, servers.slice(from, from + ASKED), { app, ref })),
    );
  const bad = heads.find(({ commit, problem }) => commit === null || problem !== null);
  if (bad) throw problemOf(bad);
  if (ref !== undefined && isCommit(ref))
    return { commit: ref, version: agreedVersion(ref, heads) };
  const [first, ...others] = heads;
  if (first && others.length === 0 && targets > 1)
    throw new Failure(
      'server_offline',
      `only ${first.server.server} says which commit to deploy: try again when another server answers, or use --ref with the full commit`,
    );
  const found = agreedCommit(heads);
  if (found) return found;
  throw new Failure(
    'server_offline',
    'no server could say which commit to deploy: try again, or use --ref with the full commit',
  );
}

/** The version that all answers with this commit give it. */
function agreedVersion(commit: string, heads: readonly HeadThere[]): string {
  const versions = new Set(
    heads.filter((head) => head.commit === commit).map((head) => head.version),
  );
  const [version] = versions;
  return versions.size === 1 && version ? version : commit.slice(0, 12);
}

/** Undefined without an answer. Throws `commit_disagrees`. */
export function agreedCommit(
  heads: readonly HeadThere[],
): { commit: string; version: string } | undefined {
  const [first] = heads;
  const other = heads.find(({ commit }) => commit !== first?.commit);
  if (first && other) {
    const says = ({ server, commit }: HeadThere) => `${server.server} says ${commit?.slice(0, 12)}`;
    throw new Failure(
      'commit_disagrees',
      `${says(first)}, ${says(other)}: use --ref with the full commit`,
    );
  }
  const commit = first?.commit;
  return commit ? { commit, version: agreedVersion(commit, heads) } : undefined;
}

/** Why a server cannot deploy its head. */
export function problemOf({ server, problem, code }: HeadThere): Failure {
  const known = FAILURE_CODES.find((each) => each === code) ?? 'ref_not_found';
  return new Failure(known, `${server.server}: ${problem}`);
}
