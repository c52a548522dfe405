/** What an agent needs to check orders and sign results. */
import type { KeyObject } from 'node:crypto';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';
import { type AgentConfig, agentFiles, readAgent } from '@runner/fleet/files/agent';
import type { Order } from '@runner/fleet/order/order';
import { readSignKey } from '@runner/fleet/order/seal';

export interface Agent {
  readonly io: Io;
  readonly paths: Paths;
  readonly config: AgentConfig;
  /** Private key for its results, events and state. */
  readonly signKey: KeyObject;
  /** Called when a step of a deploy or rollback starts. */
  readonly step?: (order: Order, step: string) => void;
}

/** The command that creates the agent's files. */
export const INIT = 'runner agent init';

/** Throws `fleet_not_configured`, `config_invalid`, `guard_tripped`. */
export async function openAgent(io: Io, paths: Paths): Promise<Agent> {
  const config = await readAgent(paths.root);
  return { io, paths, config, signKey: readSignKey(agentFiles(paths.root).signKey, INIT) };
}
