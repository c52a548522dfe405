import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeIfChanged } from '../bundle/place.mjs';
import { cacheFolder } from '../tasks/checkout.mjs';

const secondsFile = join(cacheFolder, 'test-seconds.json');

/** How many seconds each test file took when it ran last; only a hint, so a damaged one is none. */
function lastSeconds() {
  try {
    return JSON.parse(readFileSync(secondsFile, 'utf8'));
  } catch {
    return {};
  }
}

/** Sorts tests so that the slow files begin and none of them ends alone. */
export function slowFirst(tests) {
  const seconds = lastSeconds();
  const secondsOf = (source) => seconds[source] ?? 0;
  return tests.sort(
    ({ source: a }, { source: b }) => secondsOf(b) - secondsOf(a) || (a < b ? -1 : 1),
  );
}

/** Keeps the seconds of the given test files, source -> seconds, for the next run. */
export function rememberSeconds(seconds) {
  const text = JSON.stringify({ ...lastSeconds(), ...seconds });
  writeIfChanged(secondsFile, Buffer.from(text), 0o644);
}
