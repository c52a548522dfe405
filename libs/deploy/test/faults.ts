/** Makes a program of ours fail or die at an exact moment: between two of its calls of fs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';

/** Source of a condition on `name` and `args` of a call of fs; `text(path)` reads a file. */
type Moment = string;

/** The app's state was written with this stage. */
export const staged = (stage: string): Moment =>
  `name === 'renameSync' && args[1].endsWith('/state/shop.json') && text(args[1]).includes('"stage": "${stage}"')`;

/** The last line of the audit log is of this kind. */
export const recorded = (kind: string): Moment =>
  `name === 'fdatasyncSync' && text(process.env.RUNNER_ROOT + '/logs/deploy-events.jsonl').trimEnd().split('\\n').at(-1).includes('${kind}')`;

/** The folder of the unfinished release was made. */
export const EXPORTING: Moment = `name === 'mkdirSync' && String(args[0]).includes('/.tmp-')`;

/** The release has its name. */
export const RENAMED: Moment = `name === 'renameSync' && args[0].includes('/.tmp-')`;

/** `current` was switched for the n-th time. */
export const switched = (times = 1): Moment =>
  `name === 'renameSync' && args[1].endsWith('/current') && ++count === ${times}`;

/** `current` is removed. */
export const SWITCHED_OFF: Moment = `name === 'unlinkSync' && args[0].endsWith('/current')`;

function hook(moment: Moment, before: string, after: string): Record<string, string> {
  const file = join(temporaryFolder('hook'), 'hook.cjs');
  writeFileSync(
    file,
    `const fs = require('node:fs');
let count = 0;
const text = (path) => { try { return fs.readFileSync(path, 'utf8'); } catch { return ''; } };
for (const name of ['mkdirSync', 'renameSync', 'unlinkSync', 'fdatasyncSync']) {
  const original = fs[name];
  fs[name] = (...args) => {
    ${before.replace('MOMENT', moment)}
    const result = original(...args);
    ${after.replace('MOMENT', moment)}
    return result;
  };
}\n`,
  );
  return { NODE_OPTIONS: `--require=${file}` };
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
