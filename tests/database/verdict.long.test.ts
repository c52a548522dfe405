/**
 * What runner says of a migration against the truth: whether the old version's own statements still work.
 * The whole form has every shape of the tables. CORPUS_ONLY=text runs the migrations whose name has
 * it, CORPUS_SHOW=1 prints each, CORPUS_KIND=sqlite those of one database.
 */
import { databaseAddress } from '@runner/deploy/database/address';
import { rehearseSchema } from '@runner/deploy/database/rehearse';
import { runTool } from '@runner/deploy/database/tools';
import {
  sqliteFolder,
  startMariadb,
  startPostgres,
  type TestDatabases,
} from '@runner/testing/databases';
import { IS_WHOLE } from '@runner/testing/extent';
import { temporaryFolder } from '@runner/testing/temp';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CORPUS, migrationFor, TRICK_NAMES } from './corpus.ts';
import { inShape, SHAPES, type Shape, tablesOf } from './shapes.ts';
import { answersOf, differences } from './truth.ts';

const test = suite('verdicts on migrations');
const ONLY = process.env.CORPUS_ONLY ?? '';
const KIND = process.env.CORPUS_KIND;
const CLIENT = {
  postgres: ['-X', '-q', '-w', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f', '-'],
  mysql: ['--default-character-set=utf8mb4', '--batch'],
  sqlite: ['-batch', '-init', '/dev/null', '-bail'],
};

interface Judged {
  readonly name: string;
  readonly kind: string;
  readonly verdict: string;
  readonly reasons: readonly string[];
  /** The old statements that fail or have another answer. */
  readonly truth: readonly string[];
  readonly ms: number;
}

/** The rehearsal on a database as it is, then the migration itself, and the old statements around it. */
async function judged(
  databases: TestDatabases,
  shape: Shape,
  at: number,
): Promise<Judged | undefined> {
  const { kind } = databases;
  const sample = CORPUS[at];
  const text = sample && migrationFor(sample, kind);
  if (!text || !sample.name.includes(ONLY)) return undefined;
  const isMariadbs = kind === 'mysql' && / SYSTEM VERSIONING$/.test(text);
  if (isMariadbs && !/MariaDB/.test(databases.sql('mysql', 'SELECT VERSION()').stdout))
    return undefined;
  const sql = `${inShape(text, shape, kind)};\n`;
  const name = `shop_${at}`;
  databases.create(name);
  const run = async (url: string) => {
    try {
      const address = databaseAddress(url, '/');
      await runTool(address, 'client', { args: CLIENT[kind], input: sql });
      return { ok: true, words: '' };
    } catch (error) {
      return { ok: false, words: String(error) };
    }
  };
  const url = databases.url(name);
  try {
    const made = await runTool(databaseAddress(url, '/'), 'client', {
      args: CLIENT[kind],
      input: inShape(tablesOf(kind), shape, kind),
    });
    assert.is(made, '');
    const request = { address: databaseAddress(url, '/'), temporary: temporaryFolder('scratch') };
    const begin = performance.now();
    const { verdict, reasons } = await rehearseSchema({
      ...request,
      run,
      signal: new AbortController().signal,
    });
    const ms = Math.round(performance.now() - begin);
    const before = answersOf(databases, name, shape);
    assert.is(before.filter((answer) => answer.startsWith('ERROR')).length, 0, before.join('\n'));
    const { ok, words } = await run(url);
    assert.ok(ok, `${kind}: ${sample.name}: ${words}`);
    const truth = differences(kind, before, answersOf(databases, name, shape));
    return { name: sample.name, kind, verdict, reasons, truth, ms };
  } finally {
    databases.remove(name);
  }
}

const isBroken = ({ truth }: Judged) => truth.length > 0;
const show = ({ kind, name, verdict, reasons, truth }: Judged) =>
  `  ${kind}: ${name}: ${verdict} (${reasons.join('; ')}), truth: ${truth[0] ?? 'all pass'}\n`;

test('a migration that breaks the old version is never called additive', async () => {
  const all: Judged[] = [];
  const isWanted = (kind: string) => (KIND ?? kind) === kind;
  const kinds = [
    isWanted('postgres') ? await startPostgres() : undefined,
    isWanted('mysql') ? await startMariadb() : undefined,
    isWanted('sqlite') ? sqliteFolder() : undefined,
  ];
  for (const databases of kinds.filter((each) => each !== undefined)) {
    try {
      for (const shape of IS_WHOLE ? SHAPES : SHAPES.slice(-1))
        for (const at of CORPUS.keys()) {
          const result = await judged(databases, shape, at);
          if (result) all.push(result);
          if (result && process.env.CORPUS_SHOW) process.stdout.write(show(result));
        }
      const left =
        databases.kind === 'sqlite'
          ? ''
          : databases.sql(
              databases.kind === 'mysql' ? 'mysql' : 'postgres',
              databases.kind === 'mysql'
                ? "SHOW DATABASES LIKE 'runner%'"
                : "SELECT datname FROM pg_database WHERE datname LIKE 'runner%'",
            ).stdout;
      assert.is(left, '');
    } finally {
      databases.close();
    }
  }
  const isTrick = ({ name }: Judged) => TRICK_NAMES.has(name);
  const tricked = all.filter((each) => isTrick(each) && each.verdict === 'additive');
  assert.equal(tricked.map(show), []);
  const results = all.filter((each) => !isTrick(each));
  const decided = results.filter(({ verdict }) => verdict !== 'unknown');
  const wrong = decided.filter((each) => isBroken(each) !== (each.verdict === 'broken'));
  for (const kind of ['postgres', 'mysql', 'sqlite']) {
    const of = results.filter((each) => each.kind === kind);
    const bad = wrong.filter((each) => each.kind === kind).length;
    const unknown = of.filter(({ verdict }) => verdict === 'unknown').length;
    const ms = of.map((each) => each.ms).sort((a, b) => a - b);
    process.stdout.write(
      `${kind}: ${of.length} migrations, ${of.length - bad - unknown} right, ${bad} wrong, ${unknown} unknown (${of.filter((each) => each.verdict === 'unknown' && isBroken(each)).length} of them broken); ${ms[ms.length >> 1]} ms, at most ${ms.at(-1)} ms\n`,
    );
  }
  for (const each of wrong) process.stdout.write(`wrong:${show(each)}`);
  const missed = wrong.filter(isBroken);
  assert.equal(missed.map(show), []);
  if (ONLY || KIND) return;
  assert.ok(results.length - decided.length <= 0.15 * results.length, 'too many are unknown');
  assert.ok(wrong.length <= 0.02 * decided.length, 'too many are wrong');
});

test.run();
