/**
 * The counts that uvu prints last: { total, passed, skipped }, the total without the skipped; null
 * when the output does not end in them. What a tested program prints before them does not count.
 */
export function readCounts(output) {
  const [total, passed, skipped] = ['Total: ', 'Passed:', 'Skipped:'].map(
    (label) => `  ${label.padEnd(9)} +(\\d+)\\n`,
  );
  const start = output.lastIndexOf('\n  Total: ');
  const summary = new RegExp(`^${total}${passed}${skipped}  Duration: .*\\s*$`);
  const match = start < 0 ? null : summary.exec(output.slice(start + 1));
  if (match === null) return null;
  return { total: Number(match[1]), passed: Number(match[2]), skipped: Number(match[3]) };
}

/**
 * Judges one test file by its counts and its end, because uvu exits 0 for a file without `.run()`,
 * for one without tests, after a throwing `before` hook and after a rejection without an Error.
 * Gives { passed, failed, skipped, reason }; `reason` is null when the file passed.
 */
export function judge({ status, signal, timedOut, limit, output }) {
  const counts = readCounts(output);
  const { total, passed, skipped } = counts ?? { total: 0, passed: 0, skipped: 0 };
  const failed = Math.max(total - passed, 0);
  const fail = (reason) => ({ passed, failed: Math.max(failed, 1), skipped, reason });
  if (timedOut) return fail(`did not end within ${limit} s`);
  if (signal !== null) return fail(`was ended by ${signal}`);
  if (counts === null) return fail('printed no counts last: does it call test.run()?');
  if (total + skipped === 0) return fail('has no tests');
  if (passed > total) return fail('printed counts that do not add up');
  if (failed > 0 && !output.includes(' FAIL ')) {
    return fail(
      `${failed} of ${total} tests did not run: a hook threw, or a test threw a non-Error`,
    );
  }
  if (failed > 0) return fail(`${failed} of ${total} tests failed`);
  if (status !== 0) return fail(`exited with status ${status}`);
  return { passed, failed, skipped, reason: null };
}
