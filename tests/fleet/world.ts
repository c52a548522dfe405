/** An operator with a signing key, and servers that know it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type RunOptions, run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';

export interface Operator {
  readonly root: string;
  /** Private key that signs orders. */
  readonly key: string;
  /** Public keys of those who may order. */
  readonly signers: string;
  fleet(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** A signed order, for web1 unless it says otherwise. */
  signed(verb: string, app: string, more?: OrderFields): string;
  /** Makes the agent's files below a server's root, and adds the server. */
  enrol(server: string, root: string, groups?: string, url?: string): Promise<void>;
}

export function newSshKey(folder: string, name: string): string {
  const key = join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  return key;
}

/** Throws unless the command succeeds. */
export async function must(ended: Promise<Ended>): Promise<string> {
  const { status, stdout, stderr } = await ended;
  if (status !== 0) throw new Error(`status ${status}: ${stderr}${stdout}`);
  return stdout;
}

export async function makeOperator(
  broker = 'nats://127.0.0.1:4222',
  ca?: string,
): Promise<Operator> {
  const folder = temporaryFolder('operator');
  const root = join(folder, 'root');
  mkdirSync(root);
  const key = newSshKey(folder, 'key');
  const signers = join(folder, 'allowed_signers');
  writeFileSync(signers, `alice ${readFileSync(`${key}.pub`, 'utf8')}`);
  const fleet = (args: readonly string[], options: RunOptions = {}) =>
    run('runner-fleet', args, { root, ...options });
  const more = ca === undefined ? [] : ['--ca', ca];
  await must(fleet(['init', '--broker', broker, '--key', key, '--by', 'alice', ...more]));
  const agent = (args: readonly string[], server: string) =>
    run('runner-agent', args, { root: server });
  return {
    root,
    key,
    signers,
    fleet,
    signed: (verb, app, more = {}) => signedOrder(verb, app, { key, ...more }),
    async enrol(server, serverRoot, groups, url = broker) {
      const init = ['init', server, '--broker', url, '--signers', signers];
      const stdin = await must(agent(init, serverRoot));
      await must(fleet(['add', server, ...(groups ? ['--group', groups] : [])], { stdin }));
    },
  };
}

export interface OrderFields {
  readonly key?: string;
  readonly by?: string;
  readonly ref?: string;
  readonly servers?: readonly string[];
  /** Hours that the clock of the operator is ahead. */
  readonly ahead?: number;
  readonly id?: string;
  readonly deadline?: string;
}

let orders = 0;

/** An order as `fleet order | fleet sign` makes it, each newer than the one before. */
export function signedOrder(verb: string, app: string, fields: OrderFields): string {
  const { key = '', by = 'alice', ref = '', servers = ['web1'], ahead = 0 } = fields;
  orders += 1;
  const issued = Date.now() + orders + ahead * 3_600_000;
  const id =
    fields.id ?? `r-${(process.pid * 65_536 + orders).toString(16).padStart(8, '0').slice(-8)}`;
  const deadline = fields.deadline ?? new Date(issued + 900_000).toISOString();
  const order = { id, verb, app, ref, servers, issued: new Date(issued).toISOString(), deadline };
  const body = JSON.stringify({ ...order, max_parallel: 1, reason: '' });
  const args = ['-Y', 'sign', '-q', '-f', key, '-n', 'runner-fleet'];
  const sig = execFileSync('ssh-keygen', args, { input: body, encoding: 'utf8' });
  return JSON.stringify({ by, sig, body });
}

/** The text of a server's answer. */
export function resultIn(stdout: string): Record<string, unknown> {
  const sealed = JSON.parse(stdout.trim().split('\n').at(-1) as string) as { body: string };
  return JSON.parse(sealed.body) as Record<string, unknown>;
}
