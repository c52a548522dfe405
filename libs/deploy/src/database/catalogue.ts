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

/** A schema as a text that differs if it does: where sequences are does not count. */
export const schemaText = ({ entries }: Catalogue): string =>
  JSON.stringify(entries.filter(({ kind }) => kind !== 'counter'));

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

/** The checks and collations in the text of a table of SQLite, which has no catalogue of them. */
function inTableText(entry: CatalogueEntry): CatalogueEntry[] {
  const text = entry.text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const checks = [...text.matchAll(/\bCHECK\s*(?=\()/gi)].map((found) =>
    bracketsAt(text, found.index + found[0].length).replace(/\s+/g, ' '),
  );
  const collations = [...text.matchAll(/\bCOLLATE\s+\w+/gi)].map(([words]) => words.toLowerCase());
  const made = [...checks.map((check) => `CHECK ${check}`), ...collations];
  return made.map((words) => ({
    ...entry,
    kind: words.startsWith('CHECK') ? 'check' : 'collation',
    text: words,
  }));
}

/** Reads the schema; system schemas are left out. Throws a Failure if it cannot be read. */
export async function readCatalogue(
  address: DatabaseAddress,
  limits: ToolLimits = {},
): Promise<Catalogue> {
  let sql = CATALOGUE_SQL[address.kind];
  if (address.kind === 'mysql') {
    // In MariaDB a check of a column has the name of the column: only with its table it is unique.
    const [[version = ''] = []] = await query(address, 'SELECT VERSION()', limits);
    sql = sql.replace(' /*TABLE*/', version.includes('MariaDB') ? ', TABLE_NAME' : '');
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
