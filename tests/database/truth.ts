/** Whether the old version still works: its own statements, before and after a migration, on rows. */
import type { TestDatabases } from '@runner/testing/databases';
import { inShape, oldStatements, type Shape } from './shapes.ts';

/** The answer to each statement, or its error. */
export type OldAnswers = readonly string[];

/** A driver makes one text of these. */
const sameType = (text: string) =>
  text.replaceAll('character varying', 'text').replaceAll('varchar', 'text');

/** What comes of each statement in a transaction of its own, which is rolled back. */
export function answersOf(databases: TestDatabases, name: string, shape: Shape): OldAnswers {
  const { kind } = databases;
  const statements = oldStatements(kind).map((text) =>
    inShape(
      text
        .replace('{raw_child}', shape.child)
        .replace('{raw_sum}', shape.sum)
        .replace('{raw_state}', shape.state),
      shape,
      kind,
    ),
  );
  if (kind === 'sqlite')
    return statements.map((text) => {
      const { status, stdout, stderr } = databases.sql(name, `BEGIN;\n${text};\nROLLBACK;`);
      return status === 0 && stderr === '' ? stdout : `ERROR ${stderr}`;
    });
  const script = statements.map((text, at) =>
    kind === 'postgres'
      ? `\\echo @@${at}\nBEGIN;\n${text};\n\\echo error :ERROR\nROLLBACK;\n`
      : `SELECT '@@${at}';\nBEGIN;\n${text};\nSHOW COUNT(*) ERRORS;\nROLLBACK;\n`,
  );
  const { stdout } = databases.sql(name, script.join(''));
  return stdout
    .split(/^@@\d+\n/m)
    .slice(1)
    .map((text) => {
      const lines = text.trimEnd().split('\n');
      const end = lines.pop();
      return end === 'error false' || end === '0' ? sameType(lines.join('\n')) : 'ERROR';
    });
}

/** The statements that fail or have another answer. Columns at the end are new, and not read. */
export function differences(
  kind: TestDatabases['kind'],
  before: OldAnswers,
  after: OldAnswers,
): string[] {
  const separator = kind === 'mysql' ? '\t' : '|';
  return oldStatements(kind).filter((statement, at) => {
    const [old = '', now = 'nothing'] = [before[at], after[at]];
    if (old === now || !statement.startsWith('SELECT *')) return old !== now;
    const [rows, others] = [old.split('\n'), now.split('\n')];
    return (
      rows.length !== others.length ||
      rows.some((row, line) => {
        const rest = others[line]?.slice(row.length);
        return !others[line]?.startsWith(row) || (rest !== '' && !rest?.startsWith(separator));
      })
    );
  });
}
