import { command } from '@runner/common/cli/command';
import type { Paths } from '@runner/common/foundation/paths';
import { loginKeyOf } from '@runner/fleet/broker/nats';
import { agentFiles, readAgent } from '@runner/fleet/files/agent';
import { publicKeyOf, readSecretFile, readSignKey } from '@runner/fleet/order/seal';
import { INIT } from '../orders/agent.ts';

/** The input of `runner fleet add`. */
export type AgentKeys = Awaited<ReturnType<typeof keysOf>>;

/** The public keys of this server. */
export async function keysOf(paths: Paths) {
  const { login, signKey } = agentFiles(paths.root);
  const { server } = await readAgent(paths.root);
  const nkey = loginKeyOf(readSecretFile(login, INIT), login);
  return { server, nkey, key: publicKeyOf(readSignKey(signKey, INIT)) };
}

export const keys = command({
  name: 'keys',
  about: 'Print the public keys of this server, for runner fleet add',
  plain: true,
  async run({ paths }) {
    return { value: await keysOf(paths) };
  },
  human: (keys: AgentKeys) => `${JSON.stringify(keys)}\n`,
});
