/** What a server still executes of a migration that was ended: it does not notice that its client is gone. */
import { hostname, networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { type MigrationContext, SESSION_NAME } from './context.ts';
import { query } from './tools.ts';

/** How long its end is waited for, and between two looks, in ms. */
const PATIENCE = 5_000;
const POLL = 300;
/** Characters of a statement that are shown. */
const SHOWN = 100;
/** Bytes of the list of sockets. */
const SOCKETS_MAX = 16_777_216;

/** Columns: session, address and port of its client, seconds since its statement began, statement, whether it has our name. */
const SESSIONS = {
  postgres: `SELECT pid, concat(host(client_addr), ':', client_port),
    extract(epoch FROM clock_timestamp() - query_start), query, application_name = '${SESSION_NAME}'
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND state IS DISTINCT FROM 'idle' AND (application_name = '${SESSION_NAME}'
    OR usename = current_user AND state = 'active' AND backend_type = 'client backend')`,
  mysql: `SELECT ID, HOST, TIME, INFO, '' FROM information_schema.PROCESSLIST WHERE DB = DATABASE()
    AND USER = SUBSTRING_INDEX(USER(), '@', 1) AND ID <> CONNECTION_ID() AND COMMAND <> 'Sleep'`,
};
const END = {
  postgres: (id: string) => `SELECT pg_terminate_backend(${id})`,
  mysql: (id: string) => `KILL ${id}`,
};

/** Whether the client of a session is gone; undefined: it is not one of this server, or no one knows. */
function isGone(client: string): boolean | undefined {
  const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(client) ?? [];
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const own = ['localhost', hostname(), ...addresses.map(({ address }) => address)];
  if (!own.includes(host)) return undefined;
  const place = `:${Number(port).toString(16).padStart(4, '0').toUpperCase()}`;
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    (orElse(() => readTextIfThere(`/proc/net/${name}`, SOCKETS_MAX), '') ?? '').split('\n'),
  );
  return !lines.some((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return state === '01' && local.endsWith(place);
  });
}

/**
 * Ends the statements of a migration that was begun `at`, in ISO 8601, and waits for their end. Those that may
 * be another's are only waited for. Returns that one still runs, and how to end it. Throws a Failure if the
 * server does not answer.
 */
export async function stillRuns(
  { op, address }: Pick<MigrationContext, 'op' | 'address'>,
  at: string,
): Promise<string | undefined> {
  const { kind } = address;
  if (kind === 'sqlite') return undefined;
  const until = op.io.elapsed() + PATIENCE;
  for (;;) {
    const since = (op.io.now().getTime() - Date.parse(at)) / 1_000 + 1;
    const left = (await query(address, SESSIONS[kind])).flatMap(
      ([id = '', client = '', seconds = '', text = '', named]) => {
        const age = Number(seconds);
        const isOurs = named === 't' || (age <= since ? isGone(client) : false);
        return isOurs === false ? [] : [{ id, text, age, isOurs }];
      },
    );
    if (left.length === 0) return undefined;
    for (const { id } of left.filter(({ isOurs }) => isOurs))
      await query(address, END[kind](id)).catch(noneLeft);
    if (op.io.elapsed() >= until) {
      // Of the app there is always one.
      const old = left.find(({ age, isOurs }) => isOurs || age * 1_000 >= PATIENCE - 1_000);
      if (!old) return undefined;
      const words = harmlessLine(op.redact(old.text).replace(/\s+/g, ' ').slice(0, SHOWN));
      return `the server still executes \`${words}\`, perhaps of this migration: wait for its end, or end it: ${END[kind](old.id)}`;
    }
    await sleep(POLL);
  }
}

/** A session that has ended meanwhile, or that this user may not end, is looked at again. */
function noneLeft(error: unknown): void {
  if (!(error instanceof Failure)) throw error;
}
