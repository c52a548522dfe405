import { cleanText, cutCodePoints, headAndTail } from '@runner/common/text/plain';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FAMILY } from './plain.ts';

/** Processor time of the doubled text over that of the text, the best of several attempts. */
function ratio(run: (text: string) => void, text: string): number {
  const time = (input: string): number => {
    const start = process.cpuUsage();
    run(input);
    const { user, system } = process.cpuUsage(start);
    // What takes less than a millisecond is noise.
    return Math.max(1_000, user + system);
  };
  run(text);
  const best = (input: string) => Math.min(...[1, 2, 3, 4, 5].map(() => time(input)));
  return best(text + text) / best(text);
}

test('twice the text takes about twice the time, even if it is hostile', () => {
  const size = 400_000;
  for (const piece of [
    '\u001b[',
    '\u001b]',
    '\u001b[0;',
    '\r',
    '\u001b]8;;a',
    'e\u0301',
    FAMILY,
    '🇩🇪',
  ]) {
    const text = piece.repeat(size / piece.length);
    assert.ok(ratio(cleanText, text) < 6, `clean: ${JSON.stringify(piece)}`);
    assert.ok(
      ratio((input) => cutCodePoints(input, 800), text) < 6,
      `cut: ${JSON.stringify(piece)}`,
    );
    assert.ok(
      ratio((input) => headAndTail(input, 3800), text) < 6,
      `ends: ${JSON.stringify(piece)}`,
    );
  }
});

test.run();
