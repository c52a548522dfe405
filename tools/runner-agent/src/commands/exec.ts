import { command } from '@runner/common/cli/command';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { inputLines } from '@runner/fleet/order/input';
import { sealedOf } from '@runner/fleet/order/order';
import { isDone, resultOf } from '@runner/fleet/order/result';
import { openAgent } from '../orders/agent.ts';
import { handle } from '../orders/handle.ts';

export const exec = command({
  name: 'exec',
  about: 'Carry out signed orders from standard input',
  details:
    'Reads signed orders, one JSON object per line, and prints a signed result for each. Works without\n' +
    'the broker:\n' +
    'runner fleet order … | runner fleet sign | ssh web1 runner-agent exec | runner fleet results -',
  plain: true,
  async run({ io, paths }) {
    const agent = await openAgent(io, paths);
    const lines = inputLines(io, 'runner fleet sign');
    let status: number = EXIT.ok;
    for (const [index, line] of lines.entries()) {
      const order = sealedOf(line);
      if (!order) throw new Failure('order_invalid', `line ${index + 1} is not a signed order`);
      const sealed = await handle(agent, order);
      const result = resultOf(sealed.body);
      if (result && !isDone(result)) status = EXIT.failed;
      io.stdout.write(`${JSON.stringify(sealed)}\n`);
    }
    return { status };
  },
});
