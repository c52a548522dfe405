/** What an instance that is down printed at its end, if that says why. */
import { statSync } from 'node:fs';
import { liveRun } from '@runner/common/apps/slots';
import { requireApp } from '@runner/common/apps/store';
import { pidFileIn } from '@runner/common/files/process';
import { orElse } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { redactorForAny } from '@runner/common/redaction/redact';
import { readMarks } from '../run/output-marks.ts';
import { activeTargets } from './active.ts';
import { FollowedFile } from './followed.ts';
import { type Output, outputOf } from './output.ts';
import { showProgram } from './show.ts';

/** Lines of the end: what a program prints when it crashes. */
const LINES = 60;
/** For a supervisor to show them, in milliseconds. */
const PATIENCE = 5_000;

/** Redacted, at most 800 code points; '' if it printed no error, or no one knows where it prints. Never throws. */
export async function lastWords(server: Server, app: string, instance: string): Promise<string> {
  const { io, paths } = server;
  try {
    const [target] = activeTargets({ io, paths, note: () => {} }, app, instance);
    const { active_since: since, current } = requireApp(paths, app).instances[instance] ?? {};
    const own = paths.app(app).instance(instance);
    const active = Date.parse(since ?? current?.deployed_at ?? '');
    // What ran before it was made active, or a process of our own was started again, is another matter.
    const begun = orElse(() => statSync(pidFileIn(liveRun(own))).mtimeMs, active);
    const from = { since: new Date(begun).toISOString(), until: undefined };
    const wanted = { lines: LINES, follow: false, ...from, timestamps: false };
    const outputs = outputOf(paths, target, { ...wanted, slots: 'own' });
    const read = (each: Output) => lastOf(server, app, each, begun);
    const texts = await Promise.all(outputs.map(read));
    const { extractError } = await import('@runner/extract/extract');
    const redact = await redactorForAny({ paths, env: io.env }, app);
    const { text, rule } = extractError(texts.join(''), { redact });
    return rule === null ? '' : text;
  } catch {
    return '';
  }
}

async function lastOf({ io, paths }: Server, app: string, output: Output, since: number) {
  if ('files' in output)
    return output.files
      .map((path) => new FollowedFile(path))
      .map((file) => {
        const { text } = file.last(LINES, { marks: readMarks(paths.app(app).dir), since });
        file.close();
        return text;
      })
      .join('');
  const shown: string[] = [];
  let end = () => {};
  const limited = {
    stdout: io.stdout,
    onSignal: (handler: (by: NodeJS.Signals) => void) => {
      end = () => handler('SIGTERM');
      return () => {};
    },
  };
  const timer = setTimeout(() => end(), PATIENCE);
  await showProgram(limited, output, false, (text) => shown.push(text));
  clearTimeout(timer);
  return shown.join('');
}
