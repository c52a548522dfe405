/** What is in the schema of a database, as plain JSON. */
import type { DatabaseAddress } from './address.ts';
import { CATALOGUE_SQL } from './catalogue-sql.ts';
import { query } from './query.ts';
import { NOTE_TABLE, type ToolLimits } from './tools.ts';

/** One thing of a schema. */
export interface CatalogueEntry {
  /** `table`, `view`, `column`, `check`, `foreign key`, `unique`, `index`, `trigger`, `function`, … */
  readonly kind: string;
  /** The table or type that it belongs to; empty for a table. */
  readonly owner: string;
  readonly name: string;
  /** The type of a column, the definition of anything else or its hash. */
  readonly text: string;
  readonly isNotNull: boolean;
  /** The default of a column; empty without one. Of a table of PostgreSQL whether its mere name means it. */
  readonly fallback: string;
  /** Of a column how it is generated; of a table of PostgreSQL the number of its file, of a counter where it is. */
  readonly made: string;
}

/** A schema. */
export interface Catalogue {
  readonly entries: readonly CatalogueEntry[];
}

/** A server lists a schema in any order, as MySQL 8 does; that of the columns of a table counts. */
const orderOf = ({ kind, owner, name, text }: CatalogueEntry) =>
  JSON.stringify([kind, owner, ...(kind === 'column' ? [] : [name, text])]);

/** A schema as a text that differs if it does: where sequences are does not count. */
export function schemaText({ entries }: Catalogue): string {
  const keyed = entries.map((each) => [orderOf(each), each] as const);
  const sorted = keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, each]) => each);
  return JSON.stringify(sorted.filter(({ kind }) => kind !== 'counter'));
}

/** Of the text of a table the part in brackets that begins at `from`; quoted brackets do not count. */
function bracketsAt(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const quoted = /^(?:'[^']*'|"[^"]*"|`[^`]*`)/.exec(text.slice(at))?.[0];
    if (quoted) at += quoted.length - 1;
    else if (text[at] === '(') depth += 1;
    else if (text[at] === ')' && --depth === 0) return text.slice(from, at + 1);
  }
  return text.slice(from);
}

/** The parts of the text of a table of SQLite, which commas divide. */
function definitionsIn(text: string): string[] {
  const parts = [''];
  const from = text.indexOf('(');
  const inside = bracketsAt(text, from).slice(1, -1);
  for (let at = 0; at < inside.length; at += 1) {
    const quoted = /^(?:'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\])/.exec(inside.slice(at))?.[0];
    const piece = quoted ?? (inside[at] === '(' ? bracketsAt(inside, at) : (inside[at] as string));
    at += piece.length - 1;
    if (piece === ',') parts.push('');
    else parts[parts.length - 1] += piece;
  }
  return [...parts.map((each) => each.trim()), text.slice(from + inside.length + 2)];
}

/** What no pragma shows of a column or a constraint, but the names and the checks. */
const HIDDEN =
  /\bCOLLATE\s+\S+|\bAUTOINCREMENT\b|\bKEY\s+DESC\b|\b(?:NOT\s+)?DEFERRABLE(?:\s+INITIALLY\s+\w+)?|\bON\s+CONFLICT\s+\w+|\bAS\s*\(.*\)/gi;

const QUOTES = /["`[\]]/g;

/** The checks in the text of a table of SQLite, and the like: it has no catalogue of them. */
function inTableText(entry: CatalogueEntry): CatalogueEntry[] {
  const text = entry.text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const checks = [...text.matchAll(/\bCHECK\s*(?=\()/gi)].map((found) =>
    bracketsAt(text, found.index + found[0].length).replace(/\s+/g, ' '),
  );
  const hidden = definitionsIn(text).flatMap((each) => {
    const words = each.replace(/\s+/g, ' ').match(HIDDEN);
    // A column by its name, a constraint by its columns.
    const name = /^(?:CONSTRAINT|FOREIGN|UNIQUE|PRIMARY)\b/i.test(each)
      ? /\(.*?\)/s.exec(each)?.[0]
      : /^(?:"[^"]*"|`[^`]*`|\[[^\]]*\]|[^\s(]*)/.exec(each)?.[0];
    const plain = words?.map((word) =>
      /^AS\b/i.test(word) ? word : word.replace(QUOTES, '').toLowerCase(),
    );
    return plain ? [{ name: name?.replace(QUOTES, ''), text: plain.join(' ') }] : [];
  });
  return [
    ...checks.map((check) => ({ ...entry, kind: 'check', text: `CHECK ${check}` })),
    ...hidden.map(({ name = '', text }) => ({ ...entry, kind: 'column text', name, text })),
  ];
}

/** Reads the schema; system schemas are left out. Throws a Failure if it cannot be read. */
export async function readCatalogue(
  address: DatabaseAddress,
  limits: ToolLimits = {},
): Promise<Catalogue> {
  let sql = CATALOGUE_SQL[address.kind];
  if (address.kind === 'mysql') {
    const [[version = ''] = []] = await query(address, 'SELECT VERSION()', limits);
    const isMariadb = version.includes('MariaDB');
    // In MariaDB a check of a column has the name of the column: only with its table it is unique.
    sql = sql.replace(' /*TABLE*/', isMariadb ? ', TABLE_NAME' : '');
    // MySQL 9.6 no longer has MD5; what was kept of older servers stays as it is.
    const hash = isMariadb || Number.parseInt(version, 10) < 9 ? 'MD5($1)' : 'SHA2($1, 256)';
    sql = sql.replace(/\{([^}]*)\}/g, hash);
  }
  const entries = (await query(address, sql, limits)).map(
    ([kind = '', owner = '', name = '', text = '', needed = '', fallback = '', made = '']) => ({
      kind,
      owner,
      name,
      text,
      fallback,
      made,
      isNotNull: needed.startsWith('t'),
    }),
  );
  const own = entries.filter(({ name, owner }) => ![name, owner].includes(NOTE_TABLE));
  return {
    entries: own.flatMap((entry) => (entry.kind === 'table text' ? inTableText(entry) : entry)),
  };
}
