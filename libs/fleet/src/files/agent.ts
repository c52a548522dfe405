/** A server's files: `agent/agent.yml`, its two keys, and the list of operators' keys. */
import { type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '@runner/common/foundation/failure';
import { keys, list, named } from '@runner/common/yaml/keys';
import { section } from '@runner/common/yaml/schema';
import { BROKER_SCHEMA, brokerAddress, readSettings } from './broker-address.ts';
import { serverName } from './names.ts';

export const agentFiles = (root: string) => ({
  config: join(root, 'agent/agent.yml'),
  login: join(root, 'agent/login.nk'),
  signKey: join(root, 'agent/sign.key'),
  orders: join(root, 'agent/orders'),
});

/** `agent.yml`. */
export type AgentConfig = Awaited<ReturnType<typeof readAgent>>;

/** One without items allows nothing. */
const TEXTS = { ...list({ type: 'string' }), mayBeEmpty: true };
const SCHEMA = keys(
  {
    server: { type: 'string' },
    broker: BROKER_SCHEMA,
    allowed_signers: { type: 'string' },
    allow: named(keys({ apps: TEXTS, verbs: TEXTS })),
  },
  undefined,
  ['server'],
);

/** Throws `fleet_not_configured`, `config_invalid`, `insecure_address`. */
export async function readAgent(root: string) {
  const values = await readSettings(agentFiles(root).config, root, SCHEMA, 'runner agent init');
  const [broker, allow] = [section(values, 'broker'), section(values, 'allow')];
  const texts = (of: Map<string, unknown>, key: string) => of.get(key) as string[] | undefined;
  return {
    server: serverName(values.get('server') as string),
    broker:
      broker && brokerAddress(String(broker.get('url')), broker.get('ca') as string | undefined),
    /** OpenSSH's allowed_signers file: the operators' public keys. */
    allowedSigners: (values.get('allowed_signers') as string) ?? '/etc/runner/allowed_signers',
    /** What each operator may order, of apps and verbs all if undefined; undefined: every signer may order everything. */
    allow:
      allow &&
      new Map(
        [...(allow as Map<string, Map<string, unknown>>)].map(([who, may]) => [
          who,
          { apps: texts(may, 'apps'), verbs: texts(may, 'verbs') },
        ]),
      ),
  };
}

/** Mode bits: writable by group or others. */
const OTHERS = 0o022;

/** Throws `guard_tripped` unless only root, or this user, can change the list of signers. */
export function requireSigners(path: string): void {
  const isOurs = ({ uid, mode }: Stats) =>
    [0, process.geteuid?.() ?? 0].includes(uid) && (mode & OTHERS) === 0;
  for (const each of [path, dirname(path)]) {
    const stat = statSync(each, { throwIfNoEntry: false });
    if (!stat)
      throw new Failure(
        'fleet_not_configured',
        `there is no ${path}: create it with the public keys that may sign orders`,
      );
    if (!isOurs(stat))
      throw new Failure(
        'guard_tripped',
        `not to be trusted: ${each} can be written by others: run sudo chown root ${each} and chmod go-w ${each}`,
      );
  }
}
