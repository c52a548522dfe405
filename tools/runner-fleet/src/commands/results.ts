import { type Context, command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { readServers } from '@runner/fleet/files/operator';
import { inputLines } from '@runner/fleet/order/input';
import { sealedTextOf } from '@runner/fleet/order/seal';
import { withFleet } from '../rollout/connect.ts';
import { deliveryOf, storedResult } from '../rollout/delivery.ts';
import { lineText, noAnswer, type ServerLine, statusOf, verified } from '../rollout/line.ts';
import { requireRollout } from '../rollout/record.ts';

export const results = command({
  name: 'results',
  about: "Show the servers' results; - reads them from standard input",
  positionals: { rollout: { required: true, about: 'Id of the rollout, or -' } },
  exits: [
    [3, 'The rollback failed too on at least one server'],
    [4, 'Some servers have not answered'],
  ],
  async run(context) {
    const { args, print } = context;
    const lines = args.rollout === '-' ? readLines(context) : await askLines(context, args.rollout);
    for (const line of lines) await print(line);
    return { status: statusOf(lines) };
  },
  human: (line: ServerLine, style) => lineText(line, style),
});

type Reader = Pick<Context, 'io' | 'paths'>;

function readLines({ io, paths }: Reader): ServerLine[] {
  const servers = readServers(paths.root);
  return inputLines(io, 'runner agent exec').map((text) => {
    const line = verified(sealedTextOf(text), servers);
    if (line) return line;
    throw new Failure('signature_invalid', 'a result is not signed by its server');
  });
}

async function askLines(context: Reader, id: string): Promise<ServerLine[]> {
  return withFleet(context, async (broker) => {
    const { order: sealed, ordered, state } = await requireRollout(context, broker, id);
    const delivery = deliveryOf(sealed, readServers(context.paths.root));
    return await Promise.all(
      delivery.servers.map(
        async (server) =>
          (await storedResult(broker, delivery, server)) ??
          (ordered?.includes(server.server) === false
            ? noAnswer(
                server,
                state === 'running' ? 'not ordered yet' : 'not ordered',
                'not_ordered',
              )
            : noAnswer(server, 'no answer')),
      ),
    );
  });
}
