import { command } from '@runner/common/cli/command';
import { openAgent } from '../orders/agent.ts';
import { Shipper } from '../run/ship.ts';

export const ship = command({
  name: 'ship',
  about: 'Print the audit log as signed batches, without a network',
  details: 'ssh web1 runner-agent ship | runner fleet events --stdin',
  plain: true,
  async run({ io, paths }) {
    const shipper = new Shipper(await openAgent(io, paths));
    for (
      let next = shipper.batchAfter(undefined);
      next && !io.stdout.closed;
      next = shipper.batchAfter(next.checked)
    )
      io.stdout.write(`${next.text}\n`);
    return {};
  },
});
