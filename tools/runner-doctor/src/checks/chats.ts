/** Whether the chats can be reached, as `runner notify status` says. */
import { type Found, orOk, type Patient, problem, warning } from '../foundation/finding.ts';
import { runOurs } from '../foundation/program.ts';

/** Time limit for both services, in milliseconds. */
const TIMEOUT = 15_000;

interface Channel {
  readonly channel: string;
  readonly configured: boolean;
  readonly active: boolean;
  readonly missing: readonly string[];
  readonly healthy: boolean | null;
  readonly stopped: boolean;
  readonly advice: readonly string[];
  readonly problem: { readonly description?: unknown; readonly retryable?: unknown } | null;
}

const LOOK = 'runner notify status';

export async function chats({ io, paths }: Patient): Promise<readonly Found[]> {
  const asked = await runOurs(io, TIMEOUT, 'runner-notify', ['status', '--root', paths.root]);
  if (asked === undefined)
    return [problem('runner-notify is missing beside this program', 'runner --list')];
  const { channels } = (asked.answer ?? {}) as { channels?: readonly Channel[] };
  if (channels === undefined) {
    const { message } = (asked.answer ?? {}) as { message?: string };
    const late = asked.ran.status === null;
    const why = late ? `no answer within ${TIMEOUT / 1000} s` : (message ?? 'no answer');
    return [problem(`the chats could not be checked: ${why}`, LOOK)];
  }
  const active = channels.filter((each) => each.active).map(({ channel }) => channel);
  const well =
    active.length === 0
      ? 'no chat is configured; no notification is sent'
      : `${active.join(' and ')} can be reached`;
  return orOk(channels.flatMap(troubles), well);
}

function troubles(each: Channel): Found[] {
  const { channel, configured, active, missing, healthy, stopped, advice } = each;
  // No credential at all is a choice; one of two is an unfinished setup.
  if (!configured && missing.length > 0 && missing.length < NEEDED[channel as keyof typeof NEEDED])
    return [
      warning(
        `${channel} lacks ${missing.join(' and ')}`,
        `runner notify setup --channel ${channel}`,
      ),
    ];
  if (!active) return [];
  if (stopped)
    return [
      problem(
        `nothing is sent to ${channel} until this is fixed`,
        `runner notify setup --channel ${channel}`,
      ),
    ];
  if (healthy === false) {
    const said = each.problem?.description;
    const why = [typeof said === 'string' ? said : '', ...advice].filter(Boolean).join('; ');
    const refused = each.problem !== null && each.problem.retryable === false;
    const mend = refused ? `runner notify setup --channel ${channel}` : LOOK;
    return [problem(`${channel} does not take messages${why && `: ${why}`}`, mend)];
  }
  return [];
}

/** How many credentials a channel has. */
const NEEDED = { telegram: 2, discord: 1 } as const;
