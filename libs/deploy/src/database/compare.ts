/** Whether the old version of an app can work with the schema that a migration leaves. */
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import { namesIn, withoutTexts } from './names.ts';
import { type TypeChange, typeChange } from './types.ts';

/** What a migration means for the old version of the app. */
export interface SchemaVerdict {
  /** `additive`: the old version works as before. `broken`: some of its statements fail. */
  readonly verdict: 'additive' | 'broken' | 'unknown';
  /** Sentences without a subject, such as `removes column orders.note`. */
  readonly reasons: readonly string[];
}

type Side = ReadonlyMap<string, CatalogueEntry>;
type Found = readonly [SchemaVerdict['verdict'], string];

/** What the names do not identify is known by its definition: SQLite gives no names. */
const keyOf = ({ kind, owner, name, text }: CatalogueEntry) =>
  [kind, owner, CONSTRAINTS.has(kind) ? text : name].join('\0');
const LOOSE = new Set(['event', 'setting']);
/** What is removed with something else, or missed by no one. */
const SILENT = new Set(['counter', 'schema']);
const CONSTRAINTS = new Set(['check', 'foreign key', 'primary key', 'unique', 'exclusion']);
const sideOf = ({ entries }: Catalogue): Side =>
  new Map(entries.map((each) => [keyOf(each), each]));
const OWNERS = ['table', 'view', 'type', 'sequence', 'function', 'schema'];
const ownerOf = (side: Side, { owner }: CatalogueEntry) =>
  OWNERS.some((kind) => side.has([kind, '', owner].join('\0')));
const plainly = (kind: string) => kind.replace(' text', '');
const full = ({ owner, name }: CatalogueEntry) =>
  owner && name ? `${owner}.${name}` : owner || name;

const TYPE_CHANGES: Readonly<Record<TypeChange, SchemaVerdict['verdict']>> = {
  wider: 'additive',
  // A driver may read it as another type: node-postgres gives a bigint as text.
  perhaps: 'unknown',
  other: 'broken',
};

/** Without the casts of PostgreSQL, which follow the type of the column. */
const plainDefault = ({ fallback }: CatalogueEntry) => fallback.replace(/::[\w. "]+(?:\[\])?/g, '');

function changed(old: CatalogueEntry, now: CatalogueEntry): Found[] {
  const name = full(old);
  if (old.kind === 'counter')
    return Number(now.made) < Number(old.made) ? [['unknown', `sets sequence ${name} back`]] : [];
  if (old.kind !== 'column' && old.fallback !== now.fallback)
    return [['unknown', `changes which ${old.kind} the name ${name} means`]];
  if (old.kind !== 'column')
    return old.text === now.text || old.kind === 'enum value'
      ? []
      : [['unknown', `changes ${plainly(old.kind)} ${name}`]];
  const found: Found[] = [];
  if (old.text !== now.text) {
    const words = `changes the type of ${name} from ${old.text} to ${now.text}`;
    found.push([TYPE_CHANGES[typeChange(old.text, now.text)], words]);
  }
  if (old.made !== now.made)
    found.push([now.made === '' ? 'unknown' : 'broken', `changes how ${name} is generated`]);
  const isNeeded = now.isNotNull && now.fallback === '' && now.made === '';
  if (now.isNotNull && !old.isNotNull)
    // With a default too: a NULL that is written is refused.
    found.push([
      'broken',
      isNeeded ? `column ${name} is NOT NULL without a default` : `column ${name} is NOT NULL`,
    ]);
  else if (isNeeded && old.isNotNull && (old.fallback || old.made))
    found.push(['broken', `column ${name} is NOT NULL without a default`]);
  else if (plainDefault(old) !== plainDefault(now) && old.made === now.made)
    found.push(['unknown', `changes the default of ${name}`]);
  // The old version may read a NULL of the new one that it does not know.
  if (!now.isNotNull && old.isNotNull) found.push(['unknown', `column ${name} may be NULL`]);
  return found;
}

/** A statement may name an index of MySQL, but hardly that of a foreign key, which goes once a longer one is there. */
const isHinted = ({ owner, text, made }: CatalogueEntry, after: Side) =>
  made === 'hint' &&
  ![...after.values()].some(
    (each) => each.owner === owner && each.text.startsWith(text.replace(/\)$/, ', ')),
  );

function removed(old: CatalogueEntry, after: Side): Found[] {
  const { kind, owner, text } = old;
  if (owner !== '' && !ownerOf(after, old) && kind !== 'enum value') return [];
  const name = full(old);
  if (SILENT.has(kind)) return [];
  // It goes with its column, but not with what its columns have only together.
  if (kind === 'column text')
    return after.has(keyOf({ ...old, kind: 'column' })) || old.name.startsWith('(')
      ? [['unknown', `changes column ${name}`]]
      : [];
  if (kind === 'right') return [['unknown', `takes ${old.name} from ${owner}`]];
  if (kind === 'index') return isHinted(old, after) ? [['unknown', `removes index ${name}`]] : [];
  // Statements of the old version may work on a view too.
  if (kind === 'table' && after.has(keyOf({ ...old, kind: 'view' })))
    return [['unknown', `makes a view of table ${name}`]];
  if (kind === 'table') return [['broken', `renames or removes table ${name}`]];
  // Rows that point to nothing look like those of a parent that is not selected.
  if (kind === 'foreign key' && !/ON (DELETE|UPDATE) (CASCADE|SET)/.test(text)) return [];
  // Values or duplicates may come that the old version does not know; an upsert needs its unique index.
  if (CONSTRAINTS.has(kind) || ['trigger', 'policy'].includes(kind))
    return [['unknown', `removes ${kind} ${owner} ${old.name || text}`]];
  if (LOOSE.has(kind)) return [['unknown', `removes ${kind} ${name}`]];
  return [['broken', `removes ${kind} ${name}`]];
}

/** The columns that a constraint is about. */
function columnsIn({ owner, text }: CatalogueEntry, after: Side): CatalogueEntry[] {
  const own = [...after.values()].filter((each) => each.kind === 'column' && each.owner === owner);
  const names = own.map(({ name }) => name);
  const used = namesIn(text.replace(/ REFERENCES.*/s, ''), names);
  return own.filter(({ name }) => used.includes(name));
}

/** Whether a constraint is about columns that are new, and so about nothing that the old version writes. */
function isOfNewColumns(entry: CatalogueEntry, before: Side, after: Side): boolean {
  const used = columnsIn(entry, after);
  const isComputed = ({ made }: CatalogueEntry) => /^s$|GENERATED/.test(made);
  const fresh = used.filter((column) => !before.has(keyOf(column)) && !isComputed(column));
  // What the old version does not fill is NULL.
  if (entry.kind === 'check')
    return (
      fresh.length > 0 &&
      fresh.length === used.length &&
      !/NOT VALID|IS NOT NULL|num_n|coalesce|IS (NOT )?DISTINCT/i.test(entry.text)
    );
  // A NULL is equal to nothing; a default that is generated differs in each row.
  const isFree = (column: CatalogueEntry) =>
    column.fallback === ''
      ? !column.isNotNull || column.made !== ''
      : entry.kind !== 'foreign key' && /\(/.test(withoutTexts(plainDefault(column)));
  return fresh.some(isFree) && !/NULLS NOT DISTINCT/.test(entry.text);
}

const isOverloaded = (now: CatalogueEntry, before: Side) =>
  [...before.keys()].some((key) => key.startsWith(keyOf(now).replace(/(?:\(.*)?$/s, '(')));

function added(
  now: CatalogueEntry,
  [before, after]: readonly [Side, Side],
  filled: boolean,
): Found[] {
  const { kind, owner, text } = now;
  if (kind === 'enum value')
    return before.size &&
      [...before.values()].some((old) => old.kind === kind && old.owner === owner)
      ? [['unknown', `adds value ${now.name} to ${owner}, which the old version does not know`]]
      : [];
  if (LOOSE.has(kind)) return [['unknown', `adds ${kind} ${now.name}`]];
  if (kind === 'function' && isOverloaded(now, before))
    return [['unknown', `adds function ${now.name}, which a call of another may mean`]];
  if (kind === 'table' && filled && text.includes(' part of '))
    return [['unknown', `adds rows to a table with its part ${now.name}`]];
  if (owner === '') return [];
  if (!ownerOf(before, now)) {
    // Its rows keep the old version from deleting theirs.
    const parent = / REFERENCES "?([^\s"(]+)/.exec(text)?.[1] ?? '';
    const isHeld = kind === 'foreign key' && filled && !/ON DELETE (CASCADE|SET)/.test(text);
    return isHeld && ownerOf(before, { ...now, owner: parent })
      ? [['broken', `fills ${owner}, whose rows keep those of ${parent} from being deleted`]]
      : [];
  }
  if (kind === 'column' && before.has(['type', '', owner].join('\0')))
    return [['unknown', `adds ${full(now)} to a type`]];
  if (kind === 'column')
    return now.isNotNull && now.fallback === '' && !/[ads]|auto_increment|GENERATED/.test(now.made)
      ? [['broken', `column ${full(now)} is NOT NULL without a default`]]
      : [];
  if (kind === 'index' || kind === 'right') return [];
  // Of a column that is new.
  if (
    kind === 'column text' &&
    !now.name.startsWith('(') &&
    !before.has(keyOf({ ...now, kind: 'column' }))
  )
    return [];
  if (!CONSTRAINTS.has(kind)) return [['unknown', `adds ${plainly(kind)} ${full(now)}`]];
  if (isOfNewColumns(now, before, after)) return [];
  if (kind === 'unique')
    return [['broken', `adds a unique index on ${owner}${/\(.*\)/s.exec(text)?.[0] ?? ''}`]];
  return [
    [
      'broken',
      `adds ${kind === 'check' ? 'CHECK' : kind} ${now.name || text.replace(/^CHECK /, '')} to ${owner}`,
    ],
  ];
}

/**
 * Of these tables those that gain columns and, but for indexes that are not unique, nothing else: what an
 * UPDATE writes into these no statement of the old version meets.
 */
export function gainingTables(
  before: Catalogue,
  after: Catalogue,
  tables: readonly string[],
): string[] {
  const old = sideOf(before);
  return tables.filter((table) => {
    const own = after.entries.filter(({ owner }) => owner === table);
    const gained = own.filter((each) => !old.has(keyOf(each))).map(({ kind }) => kind);
    return (
      gained.includes('column') && gained.every((kind) => kind === 'column' || kind === 'index')
    );
  });
}

/**
 * Compares the schema before and after a migration. `rowsTouched`: the tables of before whose rows it
 * changes, and the new ones that have rows.
 */
export function compareCatalogues(
  before: Catalogue,
  after: Catalogue,
  rowsTouched: readonly string[] | 'unknown',
): SchemaVerdict {
  const sides = [sideOf(before), sideOf(after)] as const;
  const [old, now] = sides;
  const touched = new Set(rowsTouched === 'unknown' ? [] : rowsTouched);
  const isTable = (name: string) => old.has(['table', '', name].join('\0'));
  const gains = (table: string) =>
    [...now].some(
      ([key, { kind, owner }]) => kind === 'column' && owner === table && !old.has(key),
    );
  // A new column may be why a table is written again as a whole. Without one, the values were computed again.
  const rewritten = [...old].flatMap(([key, { kind, name, made }]) => {
    const there = kind === 'table' && !gains(name) && now.get(key);
    return there && there.made !== made && made !== '0' ? [name] : [];
  });
  const found: Found[] = [
    ...[...old].flatMap(([key, each]) => {
      const there = now.get(key);
      return there ? changed(each, there) : removed(each, now);
    }),
    ...[...now].flatMap(([key, each]) =>
      old.has(key) ? [] : added(each, sides, touched.has(each.owner || each.name)),
    ),
    ...[...new Set([...touched, ...rewritten])]
      .filter(isTable)
      .map((name): Found => ['unknown', `changes rows of ${name}`]),
    ...(rowsTouched === 'unknown' ? [['unknown', 'may change rows'] as const] : []),
  ];
  const of = (verdict: string) =>
    found.filter(([each]) => each === verdict).map(([, words]) => words);
  const verdict =
    of('broken').length > 0 ? 'broken' : of('unknown').length > 0 ? 'unknown' : 'additive';
  return { verdict, reasons: [...of('broken'), ...of('unknown')] };
}
