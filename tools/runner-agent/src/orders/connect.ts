/** The server's connection to the broker. */
import { Failure } from '@runner/common/foundation/failure';
import { type Broker, loginKeyOf, openBroker } from '@runner/fleet/broker/nats';
import { AGENT_API, accountOf } from '@runner/fleet/broker/subjects';
import { agentFiles } from '@runner/fleet/files/agent';
import { readSecretFile } from '@runner/fleet/order/seal';
import { type Agent, INIT } from './agent.ts';

/** Logs in, and checks that this server is isolated from the others and has a mailbox. Throws `broker_refused`, `broker_unsafe` and others. */
export async function connect({ config, paths }: Agent, purpose?: string): Promise<Broker> {
  const { broker: address, server } = config;
  if (!address) throw new Failure('fleet_not_configured', 'agent.yml has no broker');
  const seed = readSecretFile(agentFiles(paths.root).login, INIT);
  const name = [server, purpose].filter(Boolean).join('-');
  const broker = await openBroker({ ...address, seed, name, api: AGENT_API });
  const problem = !(await broker.isLimitedTo(
    accountOf(server),
    loginKeyOf(seed, agentFiles(paths.root).login),
  ))
    ? `lets ${server} reach more than its own subjects: load the output of runner fleet broker config`
    : !(await broker.hasMailbox(server))
      ? `has no mailbox for ${server}: restart it after runner fleet add, then run runner fleet broker check`
      : undefined;
  if (problem === undefined) return broker;
  await broker.close();
  throw new Failure('broker_unsafe', `${address.url} ${problem}`);
}
