/** What a server still executes of a migration that was ended: it does not notice that its client is gone. */
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { harmlessLine } from '@runner/common/text/harmless';
import { socketsOf } from '../run/listeners.ts';
import { type MigrationContext, SESSION_NAME } from './context.ts';
import { query } from './query.ts';

/** How long its end is waited for, and between two looks, in ms. */
const PATIENCE = 5_000;
const POLL = 300;
/** Characters of a statement that are shown, without what it writes. */
const SHOWN = 100;

/** What ends the session, address and port of its client, seconds since its statement began, statement, whether it has our name. */
const SESSIONS = {
  postgres: `SELECT concat('SELECT pg_terminate_backend(', pid, ')'), concat(host(client_addr), ':', client_port),
    extract(epoch FROM clock_timestamp() - query_start), query, application_name = '${SESSION_NAME}'
    FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND state IS DISTINCT FROM 'idle' AND (application_name = '${SESSION_NAME}'
    OR usename = current_user AND state = 'active' AND backend_type = 'client backend')`,
  mysql: `SELECT CONCAT('KILL ', ID), HOST, TIME, INFO, '' FROM information_schema.PROCESSLIST WHERE DB = DATABASE()
    AND USER = SUBSTRING_INDEX(USER(), '@', 1) AND ID <> CONNECTION_ID() AND COMMAND <> 'Sleep'`,
};

/** State of a connection in /proc/net/tcp. */
const ESTABLISHED = '01';

/** Whether the client of a session is gone; undefined: it is not one of this server, or no one knows. */
function isGone(client: string): boolean | undefined {
  const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(client) ?? [];
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map((of) => of.address));
  if (![...own, 'localhost'].includes(host)) return undefined;
  const open = socketsOf('tcp').filter(({ state }) => state === ESTABLISHED);
  return !open.some((each) => each.port === Number(port));
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
  for (const until = op.io.elapsed() + PATIENCE; ; await sleep(POLL)) {
    const since = (op.io.now().getTime() - Date.parse(at)) / 1_000 + 1;
    const rows = await query(address, SESSIONS[kind]);
    const left = rows.flatMap(([end = '', client = '', seconds, text = '', named]) => {
      const age = Number(seconds);
      const isOurs = named === 't' || (age <= since ? isGone(client) : false);
      return isOurs === false ? [] : [{ end, text, isOurs, isOld: age * 1_000 > PATIENCE - 1_000 }];
    });
    for (const { end, isOurs } of left) if (isOurs) await query(address, end).catch(() => {});
    if (left.length > 0 && op.io.elapsed() < until) continue;
    // Of an app there is always one.
    const found = left.find(({ isOurs, isOld }) => isOurs || isOld);
    if (!found) return undefined;
    const plain = op.redact(found.text).replace(/'[^']*'?|"[^"]*"?/g, "'…'");
    const words = harmlessLine(plain.replace(/\s+/g, ' ').slice(0, SHOWN));
    return `the server still executes \`${words}\`, perhaps of this migration: wait for its end, or end it: ${found.end}`;
  }
}
