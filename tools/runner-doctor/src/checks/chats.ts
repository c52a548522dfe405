/** Whether the chats can be reached, according to `runner notify status`. */
import type { Server } from '@runner/common/foundation/paths';
import { type Findings, orOk, problem, warning } from '../foundation/finding.ts';
import { runOwnTool } from '../foundation/program.ts';

interface ChatStatus {
  readonly channel: string;
  readonly configured: boolean;
  readonly active: boolean;
  readonly named_by: readonly string[];
  readonly missing: readonly string[];
  readonly healthy: boolean | null;
  readonly stopped: boolean;
  readonly advice: readonly string[];
  readonly problem: { readonly description?: unknown; readonly retryable?: unknown } | null;
}

const LOOK = 'runner notify status';

export async function chats(context: Server): Promise<Findings> {
  const asked = await runOwnTool<ChatStatus>(context, 'runner-notify', ['status'], {
    wanted: 'channels',
    purpose: 'the chats could not be checked',
    again: LOOK,
  });
  if ('found' in asked) return [asked.found];
  const channels = asked.answer;
  const active = channels.filter((each) => each.active).map(({ channel }) => channel);
  const well =
    active.length === 0
      ? 'no chat is configured; no notification is sent'
      : `${active.join(' and ')} can be reached`;
  return orOk(channels.flatMap(troubles), well);
}

function troubles(each: ChatStatus): Findings {
  const { channel, configured, active, missing, healthy, stopped, advice, named_by: apps } = each;
  const setUp = `runner notify setup --channel ${channel}`;
  // No credential at all is a choice; one of two is an unfinished setup.
  if (!configured && missing.length > 0 && missing.length < NEEDED[channel as keyof typeof NEEDED])
    return warning(`${channel} lacks ${missing.join(' and ')}`, setUp);
  if (!active && apps.length > 0) {
    const named = `the .deploy.yml of ${apps.join(', ')} names ${channel}, which is not active`;
    return warning(named, setUp);
  }
  if (!active) return [];
  if (stopped) return problem(`nothing is sent to ${channel} until this is fixed`, setUp);
  if (healthy === false) {
    const said = each.problem?.description;
    const why = [typeof said === 'string' ? said : '', ...advice].filter(Boolean).join('; ');
    const refused = each.problem !== null && each.problem.retryable === false;
    return problem(
      `${channel} does not accept messages${why && `: ${why}`}`,
      refused ? setUp : LOOK,
    );
  }
  return [];
}

/** How many credentials a channel has. */
const NEEDED = { telegram: 2, discord: 1 } as const;
