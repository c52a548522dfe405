import { command } from '@runner/common/cli/command';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { AGENT_API } from '@runner/fleet/broker/subjects';
import { agentFiles, requireSigners } from '@runner/fleet/files/agent';
import { readSecretFile } from '@runner/fleet/order/seal';
import { type Agent, INIT, openAgent } from '../orders/agent.ts';

/** One thing that was looked at. */
interface Check {
  readonly check: 'files' | 'signers' | 'broker';
  /** Code of the problem; null: good. */
  readonly error: string | null;
  readonly message: string;
}

export const check = command({
  name: 'check',
  about: 'Check the files of the agent, and whether the broker knows this server',
  async run({ io, paths }) {
    const agent = openAgent(io, paths);
    const checks: Check[] = [{ check: 'files', error: null, message: agent.config.server }];
    const look = async (name: Check['check'], body: () => Promise<string>) => {
      try {
        checks.push({ check: name, error: null, message: await body() });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        checks.push({ check: name, error: error.code, message: error.message });
      }
    };
    await look('signers', async () => {
      requireSigners(agent.config.allowedSigners);
      return agent.config.allowedSigners;
    });
    if (agent.config.broker) await look('broker', () => checkBroker(agent));
    const isGood = checks.every(({ error }) => error === null);
    return {
      value: { server: agent.config.server, checks },
      status: isGood ? EXIT.ok : EXIT.failed,
    };
  },
  human: ({ checks }: { checks: Check[] }, style) =>
    checks
      .map(({ check: name, error, message }) => {
        const mark = error === null ? style.green('ok') : style.red('problem');
        return `${name.padEnd(8)}  ${mark}  ${harmlessLine(message)}${error === null ? '' : ` (${error})`}\n`;
      })
      .join(''),
});

/** Logs in, and opens the mailbox without taking anything from it. */
async function checkBroker({ config, paths }: Agent): Promise<string> {
  const { broker: address, server } = config;
  if (!address) return '';
  const seed = readSecretFile(agentFiles(paths.root).login, INIT);
  const { openBroker } = await import('@runner/fleet/broker/nats');
  const broker = await openBroker({ ...address, seed, name: `${server}-check`, api: AGENT_API });
  try {
    if (await broker.hasMailbox(server)) return address.url;
    throw new Failure(
      'broker_unsafe',
      `${address.url} has no mailbox for ${server}: run runner fleet broker check`,
    );
  } finally {
    await broker.close();
  }
}
