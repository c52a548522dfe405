import { command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { counted } from '@runner/common/text/words';
import type { Broker } from '@runner/fleet/broker/nats';
import { chooseServers } from '@runner/fleet/files/operator';
import { ServerEvents } from '../events/read.ts';
import { checkResults } from '../events/results.ts';
import { withFleet } from '../rollout/connect.ts';
import { askAll, type PingReply } from '../rollout/presence.ts';
import { SERVER } from './events.ts';

export const verify = command({
  name: 'verify',
  about: 'Check that no event or result in the broker is forged or missing',
  details:
    'Each must be signed by its server and chained to the one before it. Servers that answer report how\n' +
    'many they have sent.',
  options: { server: SERVER },
  exits: [[EXIT.failed, 'A message is not signed by its server, cannot be read, or is missing']],
  async run(context) {
    const chosen = chooseServers(context.paths.root, context.options.server);
    return withFleet(context, async (broker) => {
      const answers = await askAll(context, broker, chosen);
      const servers: Verified[] = [];
      for (const answer of answers) servers.push(await verified(broker, answer));
      const isForged = servers.some(({ problems }) => problems.length > 0);
      return { value: { servers }, status: isForged ? EXIT.failed : EXIT.ok };
    });
  },
  human: ({ servers }: { servers: Verified[] }) =>
    servers
      .map(
        ({ server, batches, results, problems, ...loss }) =>
          `${server.padEnd(12)}  ${batches} messages, ${results} results, ${harmlessLine([...problems, ...lossWords(loss)].join('; ')) || 'all in order'}\n`,
      )
      .join(''),
});

/** What is not there, and may be in order. */
function lossWords({ gone, gaps }: Pick<Verified, 'gone' | 'gaps'>): string[] {
  const lost = counted(gone, 'message');
  return [
    ...(gone === 0
      ? []
      : [`${lost} before the first: over 400 days old, or dropped by the broker`]),
    ...(gaps === 0
      ? []
      : [
          `${counted(gaps, 'gap')}: records are missing: rotated away before they were sent, or too long to send`,
        ]),
  ];
}

type Verified = Awaited<ReturnType<typeof verified>>;

async function verified(broker: Broker, { server: of, state, problem }: PingReply) {
  const source = new ServerEvents(of);
  const sent = state?.events.sent ?? 0;
  // Reading them is what counts and checks them.
  for await (const _ of source.unread(broker));
  const { server, batches, gone, gaps, problems, newest } = source;
  if (newest < sent)
    problems.push(`the broker has ${newest} messages of the ${sent} that ${server.server} sent`);
  const { results, problems: others } = await checkResults(broker, server);
  const all = [...(problem === undefined ? [] : [problem]), ...problems, ...others];
  return { server: server.server, batches, gone, gaps, results, problems: all };
}
