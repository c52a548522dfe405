/** Statements that are run with a database's own client. */
import type { DatabaseAddress } from './address.ts';
import { runTool, type ToolLimits } from './tools.ts';

/** Longest time that a statement waits for a lock of production, in ms. */
const LOCK_WAIT = 5_000;

const [FIELD, RECORD] = ['\x1f', '\x1e'];
const ASK = {
  postgres: ['-X', '-q', '-A', '-t', '-w', '-F', FIELD, '-R', RECORD, '-f', '-'],
  mysql: ['--batch', '--skip-column-names', '--default-character-set=utf8mb4'],
  sqlite: ['-batch', '-init', '/dev/null', '-noheader', '-separator', FIELD, '-newline', RECORD],
};
const BEFORE = {
  postgres: `SET client_min_messages = error; SET lock_timeout = ${LOCK_WAIT};\n`,
  // What limits the statements of the app is not for these.
  mysql: `SET SESSION lock_wait_timeout = ${LOCK_WAIT / 1_000} /*M!100100 , SESSION max_statement_time = 0 */;\n`,
  sqlite: `.timeout ${LOCK_WAIT}\n`,
};
const STOP = { postgres: ['-v', 'ON_ERROR_STOP=1'], mysql: [], sqlite: ['-bail'] };
const GO_ON = { postgres: [], mysql: ['--force'], sqlite: [] };
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', 0: '\0', '\\': '\\' };

/** Runs statements, as a rule one: the rows of the answer. A NULL looks like an empty text. */
export async function query(
  address: DatabaseAddress,
  sql: string,
  limits: ToolLimits = {},
): Promise<string[][]> {
  const { kind } = address;
  const args = [...ASK[kind], ...(limits.isForced ? GO_ON : STOP)[kind]];
  const answer = await runTool(address, 'client', { args, input: BEFORE[kind] + sql }, limits);
  const [field, record] = kind === 'mysql' ? ['\t', '\n'] : [FIELD, RECORD];
  const rows = (kind === 'postgres' ? answer.replace(/\n$/, '') : answer).split(record);
  if (rows.at(-1) === '') rows.pop();
  const cell = (text: string) =>
    kind === 'mysql' ? text.replace(/\\(.)/g, (_, sign: string) => ESCAPES[sign] ?? sign) : text;
  return rows.map((row) => row.split(field).map(cell));
}

/** What dumps begin with since PostgreSQL 17: a server before it has no such setting. */
const NEW_SETTING = /^SET transaction_timeout = 0;$/m;
const IF_KNOWN =
  "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name = 'transaction_timeout';";
/** It is within the first of this many bytes. */
const HEAD = 2_048;

/** A dump of PostgreSQL, or its beginning, for a server that may be older than the tool. */
export const forOlderServer = (dump: string) => dump.replace(NEW_SETTING, IF_KNOWN);

/** The same of one that comes in parts. */
export async function* streamForOlderServer(
  dump: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const head: Uint8Array[] = [];
  const begun = () => Buffer.from(forOlderServer(Buffer.concat(head).toString('latin1')), 'latin1');
  let left = HEAD;
  for await (const chunk of dump) {
    if (left <= 0) yield chunk;
    else {
      head.push(chunk);
      left -= chunk.length;
      if (left <= 0) yield begun();
    }
  }
  if (left > 0) yield begun();
}
