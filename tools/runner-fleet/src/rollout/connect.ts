/** The operator's connection to the broker. */
import type { Context } from '@runner/common/cli/command';
import { type Broker, openBroker } from '@runner/fleet/broker/nats';
import { operatorFiles, readFleet } from '@runner/fleet/files/operator';
import { readSecretFile } from '@runner/fleet/order/seal';

/** The secret of the operator's login. Throws `fleet_not_configured`, `guard_tripped`. */
export function readLogin(root: string): string {
  return readSecretFile(operatorFiles(root).login, 'runner fleet init');
}

/** Throws `fleet_not_configured`, `broker_unreachable`, `broker_refused`. */
export async function openFleet({ paths: { root } }: Pick<Context, 'paths'>): Promise<Broker> {
  const { broker } = await readFleet(root);
  const seed = readLogin(root);
  return openBroker({ ...broker, seed, name: 'runner-fleet' });
}

/** Does `work` with a connection, which it closes. Throws as `openFleet`. */
export async function withFleet<T>(
  context: Pick<Context, 'paths'>,
  work: (broker: Broker) => Promise<T>,
): Promise<T> {
  const broker = await openFleet(context);
  try {
    return await work(broker);
  } finally {
    await broker.close();
  }
}
