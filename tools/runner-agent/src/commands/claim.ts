import { command } from '@runner/common/cli/command';
import { isThere } from '@runner/common/files/read';
import { invalidValue } from '@runner/common/foundation/failure';
import { timeOfIso } from '@runner/common/text/time';
import { type ClaimAnswer, claimJob, endJob } from '@runner/fleet/broker/claims';
import { agentFiles } from '@runner/fleet/files/agent';
import { openAgent } from '../orders/agent.ts';
import { connect } from '../orders/connect.ts';

/** `token` is null where this server has no agent: no other server has its jobs. */
type Claimed = ClaimAnswer | { readonly result: 'claimed'; readonly token: null };

interface EndedClaim {
  readonly result: 'ended';
}

export const claim = command({
  name: 'claim',
  needsRoot: true,
  about: 'Ask the broker for the run of a job with on: one',
  details:
    'runner-jobs calls it for each due time. The answer is claimed, with a token that is larger than that of\n' +
    'every run before; taken, if another server has this time or a later one; or running, if the run before\n' +
    'goes on there. Without an agent on this server, it is claimed.',
  positionals: {
    app: { about: 'Name of the app', required: true },
    job: { about: 'Name of the job', required: true },
  },
  options: {
    id: { placeholder: 'ID', about: 'Id of the run', required: true },
    due: { placeholder: 'TIME', about: 'Time that the run is for [default: none]' },
    until: { placeholder: 'TIME', about: 'The run is over by then [default: now]' },
    end: { about: 'The run is over' },
  },
  examples: [
    'runner agent claim shop nightly --id 20261101T030000Z-5f2a --due 2026-11-01T03:00:00.000Z',
  ],
  async run({ io, paths, args, options }): Promise<{ value: Claimed | EndedClaim }> {
    const now = io.now();
    const due = options.due === undefined ? null : timeIn('--due', options.due);
    const until =
      options.until === undefined ? now.toISOString() : timeIn('--until', options.until);
    const { id } = options;
    if (!isThere(agentFiles(paths.root).config))
      return { value: options.end ? { result: 'ended' } : { result: 'claimed', token: null } };
    const agent = await openAgent(io, paths);
    const broker = await connect(agent, 'claim');
    try {
      if (options.end) {
        await endJob(broker, args, id);
        return { value: { result: 'ended' } };
      }
      const { server } = agent.config;
      return { value: await claimJob(broker, args, { server, due, id, until }, now) };
    } finally {
      await broker.close();
    }
  },
  human: (answer: Claimed | EndedClaim) => `${JSON.stringify(answer)}\n`,
});

function timeIn(option: string, given: string): string {
  const time = timeOfIso(given);
  if (Number.isNaN(time))
    throw invalidValue(given, `${option} <TIME>`, 'write 2026-11-01T03:00:00Z');
  return new Date(time).toISOString();
}
