/** Makes a program of ours fail, die or wait at an exact moment: between two of its calls of fs. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preloading } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { until } from '@runner/testing/until';

/** Source of a condition on `name` and `args` of a call of fs; `text(path)` reads a file. */
type Moment = string;

/** The app's state was written with this stage. */
export const staged = (stage: string): Moment =>
  `name === 'renameSync' && args[1].endsWith('/state/shop.json') && text(args[1]).includes('"stage": "${stage}"')`;

/** The last line of the audit log has these texts. */
const lastRecordHas = (...texts: readonly string[]): Moment =>
  `${JSON.stringify(texts)}.every((each) => text(process.env.RUNNER_ROOT + '/logs/deploy-events.jsonl').trimEnd().split('\\n').at(-1).includes(each))`;

/** The last line of the audit log is of this kind. */
export const recorded = (kind: string): Moment =>
  `name === 'fdatasyncSync' && ${lastRecordHas(kind)}`;

/** The state with the success of v2 begins to be written. */
export const SUCCESS_OPENED: Moment = `name === 'openSync' && String(args[0]).includes('/state/.shop.json') && ${lastRecordHas('DeploySuccess', '"v2"')}`;

/** The state with the success of v2 was written. */
export const SUCCESS_WRITTEN: Moment = `name === 'renameSync' && args[1].endsWith('/state/shop.json') && ${lastRecordHas('DeploySuccess', '"v2"')}`;

/** The folder of the unfinished release was made. */
export const EXPORTING: Moment = `name === 'mkdirSync' && String(args[0]).includes('/.tmp-')`;

/** The release has its name. */
export const RENAMED: Moment = `name === 'renameSync' && args[0].includes('/.tmp-')`;

/** `current` was switched for the n-th time. */
export const switched = (times = 1): Moment =>
  `name === 'renameSync' && args[1].endsWith('/current') && ++count === ${times}`;

/** `current` is removed. */
export const SWITCHED_OFF: Moment = `name === 'unlinkSync' && args[0].endsWith('/current')`;

/** The file that carries a token to git has its name, for the first time. */
export const CREDENTIAL: Moment = `name === 'openSync' && String(args[0]).endsWith('/.credential.raw') && ++count === 1`;

function hook(moment: Moment, before: string, after: string): Record<string, string> {
  const file = join(temporaryFolder('hook'), 'hook.cjs');
  writeFileSync(
    file,
    `const fs = require('node:fs');
let count = 0;
const text = (path) => { try { return fs.readFileSync(path, 'utf8'); } catch { return ''; } };
for (const name of ['openSync', 'mkdirSync', 'renameSync', 'unlinkSync', 'fdatasyncSync']) {
  const original = fs[name];
  fs[name] = (...args) => {
    ${before.replace('MOMENT', moment)}
    const result = original(...args);
    ${after.replace('MOMENT', moment)}
    return result;
  };
}\n`,
  );
  return preloading(file);
}

/** Environment in which a program is killed right after the moment. */
export function killedAfter(moment: Moment): Record<string, string> {
  return hook(moment, '', `if (MOMENT) process.kill(process.pid, 'SIGKILL');`);
}

/** Environment in which the call that would be the moment fails as on a broken disk. */
export function failingAt(moment: Moment): Record<string, string> {
  return hook(
    moment,
    `if (MOMENT) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });`,
    '',
  );
}

/** A program that waits at a moment. */
export interface Pause {
  readonly env: Record<string, string>;
  /** Resolves when the program is there. */
  readonly reached: () => Promise<void>;
  /** Lets it go on. */
  readonly end: () => void;
}

/** Environment in which a program waits `before` or `after` the call that is the moment. */
export function pausedAt(moment: Moment, side: 'before' | 'after'): Pause {
  const folder = temporaryFolder('pause');
  const [there, go] = [join(folder, 'there'), join(folder, 'go')];
  const wait = `if (MOMENT) {
      fs.writeFileSync(${JSON.stringify(there)}, '');
      const cell = new Int32Array(new SharedArrayBuffer(4));
      while (!fs.existsSync(${JSON.stringify(go)})) Atomics.wait(cell, 0, 0, 10);
    }`;
  return {
    env: side === 'before' ? hook(moment, wait, '') : hook(moment, '', wait),
    reached: () => until(() => existsSync(there), 'the program has not come to the moment'),
    end: () => writeFileSync(go, ''),
  };
}
