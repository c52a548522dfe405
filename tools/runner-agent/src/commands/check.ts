import { command } from '@runner/common/cli/command';
import { onFailure } from '@runner/common/foundation/attempt';
import { EXIT } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { requireSigners } from '@runner/fleet/files/agent';
import { openAgent } from '../orders/agent.ts';
import { connect } from '../orders/connect.ts';

interface AgentCheck {
  readonly check: 'files' | 'signers' | 'broker';
  /** Error code; null: passed. */
  readonly error: string | null;
  readonly message: string;
}

export const check = command({
  name: 'check',
  about: "Check the agent's files and its connection to the broker",
  async run({ io, paths }) {
    const agent = await openAgent(io, paths);
    const checks: AgentCheck[] = [{ check: 'files', error: null, message: agent.config.server }];
    const look = async (check: AgentCheck['check'], body: () => Promise<string>) => {
      const said = body().then((message) => ({ check, error: null, message }));
      checks.push(
        await said.catch(onFailure(({ code: error, message }) => ({ check, error, message }))),
      );
    };
    await look('signers', async () => {
      requireSigners(agent.config.allowedSigners);
      return agent.config.allowedSigners;
    });
    const { broker } = agent.config;
    if (broker)
      await look('broker', async () => {
        await (await connect(agent, 'check')).close();
        return broker.url;
      });
    const isGood = checks.every(({ error }) => error === null);
    return {
      value: { server: agent.config.server, checks },
      status: isGood ? EXIT.ok : EXIT.failed,
    };
  },
  human: ({ checks }: { checks: AgentCheck[] }, style) =>
    checks
      .map(({ check: name, error, message }) => {
        const mark = error === null ? style.green('ok') : style.red('problem');
        return `${name.padEnd(8)}  ${mark}  ${harmlessLine(message)}${error === null ? '' : ` (${error})`}\n`;
      })
      .join(''),
});
