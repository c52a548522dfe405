/** Asking which server of a fleet runs a job of `on: one`: the agent asks the broker. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JobRules } from '@runner/common/deploy-file/jobs';
import { passed } from '@runner/common/foundation/apart';
import type { Server } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { jsonObject } from '@runner/common/text/json';

/** A run that this server would begin; `due` null: an operator does. */
export interface WantedRun {
  readonly rules: JobRules;
  readonly id: string;
  readonly due: string | null;
  /** Nothing is begun: whether another server has had the time. */
  readonly isOver?: boolean;
}

/** `unknown`: the broker cannot be asked. */
export type ClaimedRun =
  | { readonly result: 'claimed'; readonly token: number | null }
  | { readonly result: 'taken' | 'running'; readonly server: string }
  | { readonly result: 'unknown'; readonly why: string };

/** Asks for a run. */
export type Claim = (wanted: WantedRun) => ClaimedRun;

/** Longest time for an answer, in ms: the agent gives a broker that does not answer 5 s. */
const PATIENCE = 8_000;
/** A run lasts this much longer than its attempts, in ms: the pauses between them, and its end. */
const MORE = 60_000;
const EACH = { result: 'claimed', token: null } as const;

/** Asks for runs of an app. A broker that cannot be asked is not asked again. */
export function claimsOf(server: Server, app: string): Claim {
  let silent: ClaimedRun | undefined;
  return ({ rules, id, due, isOver = false }) => {
    if (rules.on !== 'one') return EACH;
    if (silent) return silent;
    const lasts = (rules.timeout + MORE) * (rules.retry + 1);
    const until = new Date(server.io.now().getTime() + lasts).toISOString();
    const args = [...(due === null ? [] : ['--due', due]), ...(isOver ? [] : ['--until', until])];
    const answer = ask(server, [app, rules.name, '--id', id, ...args]);
    if (answer.result === 'unknown') silent = answer;
    return answer;
  };
}

/** Another server may begin the next run: at once if the broker can be asked, else when this one must be over. */
export function endClaim(
  server: Server,
  app: string,
  { rules, id }: Pick<WantedRun, 'rules' | 'id'>,
): void {
  if (rules.on === 'one') ask(server, [app, rules.name, '--id', id, '--end']);
}

function ask({ io, paths }: Server, args: readonly string[]): ClaimedRun {
  const program = join(dirname(io.program), 'runner-agent');
  // Without an agent there is no other server.
  if (!existsSync(program)) return EACH;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [program, 'claim', ...args, '--json', '--root', paths.root],
    { env: passed(io.env), encoding: 'utf8', timeout: PATIENCE, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const answer = jsonObject(stdout ?? '');
  if (answer?.result !== undefined) return answer as unknown as ClaimedRun;
  const why = (stderr ?? '').trim().split('\n').at(-1) || 'runner-agent does not answer';
  return { result: 'unknown', why: harmlessLine(why) };
}
