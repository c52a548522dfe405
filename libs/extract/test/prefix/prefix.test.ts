/** A sample of the matrix: the cause is named whatever the prefix of the log. */
import { extractError } from '@runner/extract/extract';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PLATFORMS } from './platforms.ts';
import { type Prefixing, prefixed } from './prefixing.ts';

const LOG = 'compiling\n  a.c\n\n  b.c\nlinking\nb.c:3:1: error: no pool\n  3 | pool();\n';

test('people see what the program printed, and the lines are those of the log', () => {
  const bare = extractError(LOG);
  for (const [name, prefixing] of Object.entries(PLATFORMS)) {
    const { text, lines } = extractError(prefixed(LOG, prefixing));
    assert.equal(lines, bare.lines, name);
    assert.is(text.replace(/^ +/gm, ''), bare.text.replace(/^ +/gm, ''), name);
  }
});

test('of several services in one stream each one is named', () => {
  const services: Prefixing = (text, { n }) => `${n === 5 ? 'db-1 ' : 'web-1'}  | ${text}`;
  assert.match(extractError(prefixed(LOG, services)).text, /^db-1: b\.c:3:1: error: no pool/);
});

test('a line that a container runtime divides is read as one', () => {
  const at = '2024-11-20T10:00:00.123456789Z stderr';
  const { text } = extractError(`${at} P error: no table na\n${at} F med users\n`);
  assert.is(text, 'error: no table named users');
});

test('a header on a line of its own is taken off, and the lines are those of the text', () => {
  const { text, lines } = extractError(
    prefixed(
      LOG,
      (line) => `info: Shop.Relay[0]\n      ${line.replace(/^\S+ error: /, 'fatal: ')}`,
    ),
  );
  assert.is(text, 'fatal: no pool\n  3 | pool();');
  assert.equal(lines, [12, 14]);
});

test('a number that counts the lines is taken off, another number stays', () => {
  const log =
    'applying fix.patch\nreading f\nerror: patch failed: f:1\nerror: f: patch does not apply\n';
  const counted = prefixed(log, PLATFORMS['sequence number'] as Prefixing);
  assert.is(extractError(counted).text, extractError(log).text);
  const uncounted = extractError('4 fatal: no pool\n7 fatal: no pool\n9 fatal: no pool\n');
  assert.match(uncounted.text, /^\d fatal: no pool/);
});

test('a level that follows from the words alone does not choose', () => {
  const log = 'copied failed.html\nquota reached: 10 of 10 apps in use\n';
  const guess: Prefixing = (line, place) => (PLATFORMS.log4j as Prefixing)(line, place);
  assert.is(extractError(prefixed(log, guess)).text, extractError(log).text);
});

test('the level in the text of a record counts more than that of the record', () => {
  const info = ['taking orders', 'order 12 refused', 'warehouse asked'];
  const texts = [...info.map((text) => `[INFO] ${text}`), '[WARN] cart 12 refused', '[DEBUG] bye'];
  const records = texts.map((msg) => JSON.stringify({ level: 'error', time: 1, msg }));
  assert.match(extractError(records.join('\n')).text, /^order 12 refused/);
});

test('a prefix that begins in the middle of a log is seen', () => {
  const quiet = Array.from({ length: 700 }, (_, n) => `copied page-${n}.html`).join('\n');
  const { text } = extractError(
    `${quiet}\n${prefixed(LOG, PLATFORMS['journald short'] as Prefixing)}`,
  );
  assert.match(text, /^shop\[4711\]: b\.c:3:1: error: no pool/);
});

test.run();
