import { type Context, command } from '@runner/common/cli/command';
import { EXIT } from '@runner/common/foundation/failure';
import { readServers } from '@runner/fleet/files/operator';
import { inputLines } from '@runner/fleet/order/input';
import { withFleet } from '../rollout/connect.ts';
import { deliveryOf, storedResults } from '../rollout/delivery.ts';
import { lineText, noAnswer, receivedLine, type ServerLine, statusOf } from '../rollout/line.ts';
import { requireRollout } from '../rollout/record.ts';

export const results = command({
  name: 'results',
  about: "Show the servers' results; - reads them from standard input",
  positionals: {
    rollout: {
      required: true,
      about: 'Id of the rollout, or -',
      listedBy: 'runner fleet rollouts',
    },
  },
  exits: [
    [3, 'The rollback failed too on at least one server'],
    [4, 'Some servers have not answered'],
  ],
  async run(context) {
    const { args, print } = context;
    if (args.rollout === '-') return { status: await printInput(context) };
    const lines = await askLines(context, args.rollout);
    for (const line of lines) await print(line);
    return { status: statusOf(lines) };
  },
  human: (line: ServerLine, style) => lineText(line, style),
});

type ResultsContext = Pick<Context, 'io' | 'paths'>;

/** Prints the results on standard input; a line that no server signed does not hide the others. */
async function printInput({ io, paths, note, print }: Context): Promise<number> {
  const servers = readServers(paths.root);
  const lines: ServerLine[] = [];
  const input = inputLines(io, 'runner agent exec');
  for (const [index, message] of input.entries()) {
    const line = receivedLine(message, servers);
    if (!line) note(`line ${index + 1} is not a result signed by its server (signature_invalid)`);
    else {
      lines.push(line);
      await print(line);
    }
  }
  return lines.length < input.length ? Math.max(EXIT.failed, statusOf(lines)) : statusOf(lines);
}

async function askLines(context: ResultsContext, id: string): Promise<ServerLine[]> {
  return withFleet(context, async (broker) => {
    const { order: sealed, ordered, state } = await requireRollout(context, broker, id);
    const delivery = deliveryOf(sealed, readServers(context.paths.root));
    const missing = state === 'running' ? 'not ordered yet' : 'not ordered';
    const known = await storedResults(broker, delivery);
    return delivery.servers.map(
      (server, index) =>
        known[index] ??
        (ordered?.includes(server.server) === false
          ? noAnswer(server, missing, 'not_ordered')
          : noAnswer(server, 'no answer')),
    );
  });
}
