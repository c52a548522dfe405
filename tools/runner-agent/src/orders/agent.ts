/** What an agent needs to check orders and sign results. */
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { type AgentConfig, agentFiles, readAgent } from '@runner/fleet/files/agent';
import type { Order } from '@runner/fleet/order/order';
import { publicKeyOf, readSignKey, type Sealed, seal, type Use } from '@runner/fleet/order/seal';

export interface Agent {
  readonly io: Io;
  readonly paths: Paths;
  readonly config: AgentConfig;
  /** Public key of its results, events and state. */
  readonly key: string;
  /** Signs a text as this server. */
  seal(use: Use, body: string): Sealed;
  /** Called when a step of a deploy or rollback starts. */
  readonly step?: (order: Order, step: string) => void;
}

/** The command that creates the agent's files. */
export const INIT = 'runner agent init';

/** Throws `fleet_not_configured`, `config_invalid`, `guard_tripped`. */
export async function openAgent(io: Io, paths: Paths): Promise<Agent> {
  const config = await readAgent(paths.root);
  const signKey = readSignKey(agentFiles(paths.root).signKey, INIT);
  return {
    io,
    paths,
    config,
    key: publicKeyOf(signKey),
    seal: (use, body) => seal(use, config.server, body, signKey),
  };
}
