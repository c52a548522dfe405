/** Which tables the statements of a migration change. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tablesWritten } from '../../src/database/statements.ts';

const seen = (tables: readonly string[]) => ({ tables, unseen: [], columns: () => [] });

test('a text as long as a packet can be is passed over', () => {
  const statement = `UPDATE pictures SET body = '${'a'.repeat(16_000_000)}' WHERE id = 1`;
  assert.equal(tablesWritten([statement], seen(['pictures', 'orders'])), ['pictures']);
});

test('thousands of statements on hundreds of tables are looked through in seconds', () => {
  const tables = Array.from({ length: 300 }, (_, at) => `table_${at}`);
  const statements = Array.from(
    { length: 10_000 },
    (_, at) => `INSERT INTO table_${at % 300} (id) VALUES (${at})`,
  );
  const began = process.cpuUsage();
  assert.is(new Set(tablesWritten(statements, seen(tables))).size, 300);
  const took = process.cpuUsage(began).user / 1_000;
  assert.ok(took < 3_000, `${took} ms`);
});

test.run();
