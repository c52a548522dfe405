import { command } from '@runner/common/cli/command';
import { Failure } from '@runner/common/foundation/failure';
import { chooseServers, readFleet, readServers } from '@runner/fleet/files/operator';
import { inputLines } from '@runner/fleet/order/input';
import { type OrderVerb, orderOf, sealedOf, VERBS } from '@runner/fleet/order/order';
import { withFleet } from '../rollout/connect.ts';
import { deliver, deliveryOf } from '../rollout/delivery.ts';
import { lineText, NO_ANSWER, type ServerLine, statusOf } from '../rollout/line.ts';
import { countOf, deadlineOf, newOrder, signOrder, waitOf } from '../rollout/make.ts';

export const ON = {
  placeholder: 'NAME,…',
  about: 'Servers and groups, separated by commas [default: all]',
} as const;
export const KEY = {
  placeholder: 'FILE',
  about: 'SSH key that signs the order [default: key in fleet.yml]',
} as const;

export const ACCEPT_SCHEMA = {
  placeholder: 'VERSION',
  about: 'Roll back to this version although the database has changed since',
} as const;

export const order = command({
  name: 'order',
  about: 'Print an unsigned order as JSON',
  positionals: {
    verb: { required: true, about: 'What to do', choices: VERBS },
    app: { required: true, about: 'Name of the app' },
  },
  options: {
    on: ON,
    ref: {
      placeholder: 'REF',
      about: 'Full commit to deploy, version to roll back to, or id of the plan to approve',
    },
    'accept-schema': ACCEPT_SCHEMA,
    deadline: { placeholder: 'TIME', about: 'Start within this time' },
    reason: { placeholder: 'TEXT', about: 'Why' },
  },
  plain: true,
  async run(context) {
    const { paths, args, options, io } = context;
    const config = await readFleet(paths.root);
    const servers = chooseServers(paths.root, options.on).map(({ server }) => server);
    const { ref = '', reason = '' } = options;
    const max_parallel = countOf(undefined, config.maxParallel, 'max-parallel');
    const wanted = {
      verb: args.verb as OrderVerb,
      app: args.app,
      ref,
      servers,
      max_parallel,
      reason,
      accept_schema: options['accept-schema'],
    };
    const made = newOrder(context, wanted, deadlineOf(options.deadline, config.deadline));
    io.stdout.write(`${JSON.stringify(made)}\n`);
    return {};
  },
});

export const sign = command({
  name: 'sign',
  about: 'Sign the orders on standard input',
  options: { key: KEY },
  plain: true,
  async run(context) {
    for (const [index, body] of inputLines(context.io, 'runner fleet order').entries()) {
      if (!orderOf(body)) throw new Failure('order_invalid', `line ${index + 1} is not an order`);
      const sealed = await signOrder(context, body, context.options.key);
      context.io.stdout.write(`${JSON.stringify(sealed)}\n`);
    }
    return {};
  },
});

export const send = command({
  name: 'send',
  about: 'Send signed orders from standard input to their servers, and print the results',
  options: {
    wait: {
      placeholder: 'TIME',
      default: '16m',
      about: 'How long to wait for the results',
    },
  },
  exits: [[NO_ANSWER, 'Some servers have not answered: their orders wait until the deadline']],
  async run(context) {
    const { io, paths, options, print } = context;
    const wait = waitOf(options.wait, 0);
    const servers = readServers(paths.root);
    const deliveries = inputLines(io, 'runner fleet sign').map((text, index) => {
      const sealed = sealedOf(text);
      if (!sealed) throw new Failure('order_invalid', `line ${index + 1} is not a signed order`);
      const delivery = deliveryOf(sealed, servers);
      const unknown = delivery.order.servers.find(
        (name) => !servers.some((each) => each.server === name),
      );
      if (unknown !== undefined)
        throw new Failure(
          'server_unknown',
          `line ${index + 1} is for '${unknown}', which is not in this fleet: see runner fleet list`,
        );
      return delivery;
    });
    const lines: ServerLine[] = [];
    const answered = async (line: ServerLine) => {
      lines.push(line);
      await print(line);
    };
    return withFleet(context, async (broker) => {
      const waiting = { wait, signal: new AbortController().signal, answered };
      for (const delivery of deliveries) await deliver(context, broker, delivery, waiting);
      return { status: statusOf(lines) };
    });
  },
  human: (line: ServerLine, style) => lineText(line, style),
});
