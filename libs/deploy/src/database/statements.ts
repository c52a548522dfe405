/** Which tables the statements of a migration change in MySQL, as far as their texts show it. */

import { wordOf } from './names.ts';

/** What is known of the tables of a copy. */
interface SeenTables {
  readonly tables: readonly string[];
  /** Tables without a row in the copy, where what follows on a SELECT is not seen. */
  readonly unseen: readonly string[];
  /** Names of columns of a table that are there before and after. */
  columns(table: string): readonly string[];
}

const READS = /^(?:with|select|table|values)\b/i;
const WRITES =
  /^(?:insert|replace|update|delete|truncate|load|with|prepare|execute|begin|do|if|for|while|handler|set\s+statement|lock|explain|analyze(?!\s+table))\b/i;
/** The rows of a table whose name stays are those of another one. */
const EXCHANGES =
  /^(?:drop\s+(?:temporary\s+)?table|rename\s+table|create\s+or\s+replace\s+table)\b|^alter\b.*(?:\b(?:drop|truncate|exchange|reorganize|coalesce|discard|import)\s+(?:partition|tablespace)\b|\bpartition\s+by\b|\brename\s+(?!column|index|key))/is;
const COLUMN =
  /\b(?:drop|rename\s+column|change)\s+(?:column\s+)?(?:if\s+exists\s+)?(?:`([^`]+)`|([\w$\u0080-\uffff]+))(?:\s+(?:to\s+)?(?:`([^`]+)`|([\w$\u0080-\uffff]+)))?/gi;
const CHANGES = /\b(?:insert|replace|update|delete|truncate|load|drop|rename|call)\b/i;
const TOKEN =
  /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|`[^`]*`|\/\*!\d*|\*\/|\/\*[^!][\s\S]*?\*\/|(?:--\s|#)[^\n]*/g;

/** Such as comments on columns. */
const withoutStrings = (part: string) =>
  part.replace(TOKEN, (token) => (token.startsWith('`') ? token : ' '));

const partsOf = (statements: readonly string[]) =>
  statements
    .flatMap((text) =>
      text
        .replace(TOKEN, (token) => (/^['"`]/.test(token) ? token.replaceAll(';', ' ') : ' '))
        .split(';'),
    )
    .map((part) => part.replace(/^[\s\x00-\x1f(]+/, ''));

/**
 * Whether statements may change what they do not name: by a routine, by a text that is put together, or a
 * sequence. `routines`: those of before and after.
 */
export function mayWriteUnseen(
  statements: readonly string[],
  routines: readonly string[],
): boolean {
  const parts = partsOf(statements);
  const calls = routines.map((name) => new RegExp(`${wordOf(name, '').source}[\`\\s]*\\(`, 'iu'));
  const isDynamic = parts.some((part) =>
    /^(?:prepare\s+\S+\s+from|execute\s+immediate)\s+[^'"\s]/i.test(part),
  );
  return parts.some(
    (part) =>
      /^call\b|^(?:alter|create\s+or\s+replace)\s+sequence\b|\bsetval\s*\(/i.test(part) ||
      (isDynamic && /^(?:set|select)\b/i.test(part) && CHANGES.test(part)) ||
      (!/^(?:create|alter|drop)\b/i.test(part) && calls.some((call) => call.test(part))),
  );
}

/** The tables that statements change, of those named. */
export function tablesWritten(statements: readonly string[], seen: SeenTables): string[] {
  const { tables, unseen } = seen;
  const named = (part: string, list: readonly string[]) => {
    const words = part.toLowerCase();
    // Of many tables and statements it saves a minute.
    const perhaps = list.filter((table) => words.includes(table.toLowerCase()));
    return perhaps.filter((table) => wordOf(table, 'iu').test(part));
  };
  const isMoved = (part: string, table: string) => {
    const kept = seen.columns(table).map((name) => name.toLowerCase());
    return [...part.matchAll(COLUMN)].some(([, a = '', b = '', c = '', d = '']) => {
      const [from, to] = [a || b, c || d].map((name) => name.toLowerCase());
      return from !== to && kept.includes(from as string);
    });
  };
  return partsOf(statements).flatMap((part) => {
    const insert =
      /^(?:insert|replace)\b[^(]*?\binto\s+(?:`[^`]*`|[^\s(`]+)(?:\.(?:`[^`]*`|[^\s(`]+))?/i.exec(
        part,
      )?.[0];
    if (insert) return named(insert, tables);
    if (WRITES.test(part)) return named(part, tables);
    const kept = named(part, tables).filter((table) => seen.columns(table).length > 0);
    const bare = withoutStrings(part);
    if (EXCHANGES.test(bare)) return kept;
    if (/^alter\b/i.test(part)) return kept.filter((table) => isMoved(bare, table));
    return READS.test(part) ? named(part, unseen) : [];
  });
}
