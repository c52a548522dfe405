import { type Context, command } from '@runner/common/cli/command';
import { usage } from '@runner/common/foundation/failure';
import type { Redactor } from '@runner/common/secrets/redactor';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { durationOf, timeOfIso } from '@runner/common/text/time';
import type { ReleaseTarget } from '@runner/deploy/instances/target';
import type { Show } from '@runner/deploy/lifecycle/show';

export const logs = command({
  name: '',
  about: 'Show what an app prints',
  details:
    'Shows the output of start.type process, the journal of a unit, docker compose logs, the files of\n' +
    'pm2, or the output of logs in .deploy.yml; -f follows it through restarts and deploys. Secrets are\n' +
    'redacted and control characters escaped. With --json each line is an object. The output of process and\n' +
    'pm2 carries no times: --since begins at the last time of which runner knows, and says so.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    instance: { kind: 'value', placeholder: 'NAME', about: 'Only this instance [default: all]' },
    follow: { kind: 'flag', short: 'f', about: 'Follow new lines until Ctrl-C' },
    lines: {
      kind: 'value',
      short: 'n',
      placeholder: 'N',
      default: '100',
      about: 'Number of lines [default: 100]',
    },
    since: {
      kind: 'value',
      placeholder: 'TIME',
      about: 'Only lines since a time, such as 2026-12-24T18:00Z or 30m',
    },
  },
  examples: ['runner logs shop', 'runner logs shop -n 20'],
  async run(context) {
    const { io, paths, args, options } = context;
    if (!/^\d{1,7}$/.test(options.lines))
      throw usage(`invalid value '${options.lines}' for '--lines <N>': it must be a number`);
    const lines = Number(options.lines);
    const wanted = { lines, follow: options.follow, since: sinceOf(io.now(), options.since) };
    const { activeTargets, outputOf, readMarks, showFiles, showProgram } = await import(
      '@runner/deploy/active'
    );
    const { redactorForAny } = await import('@runner/common/redaction/redact');
    const redact = await redactorForAny({ paths, env: io.env }, args.app);
    const targets = activeTargets(context, args.app, options.instance);
    const outputs = targets.flatMap((target) => {
      const shown = () => shownBy(context, target, targets.length > 1, redact);
      return outputOf(paths, target, wanted).map((output) => ({ output, shown }));
    });
    const files = outputs.flatMap(({ output, shown }) =>
      'files' in output ? output.files.map((path) => ({ path, show: shown() })) : [],
    );
    const marks = wanted.since === undefined ? [] : readMarks(paths.app(args.app).dir);
    const programs = outputs.flatMap(({ output, shown }) =>
      'files' in output ? [] : [showProgram(io, output, wanted.follow, shown())],
    );
    const statuses = await Promise.all([
      ...(files.length > 0 ? [showFiles(context, files, { ...wanted, marks })] : []),
      ...programs,
    ]);
    return { status: Math.max(0, ...statuses) };
  },
});

/** In ISO 8601. Throws `usage`. */
function sinceOf(now: Date, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const ago = durationOf(text);
  const time = ago === undefined ? timeOfIso(text) : now.getTime() - ago;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw usage(`invalid value '${text.slice(0, 80)}' for '--since <TIME>': it must be a time`);
}

/** Prints whole lines, redacted; with the instance's name if there are several. */
function shownBy(
  { io, format, print }: Pick<Context, 'io' | 'format' | 'print'>,
  { instance: { name } }: ReleaseTarget,
  isOneOfMany: boolean,
  redact: Redactor,
): Show {
  let partial = '';
  return (text) => {
    const whole = partial + text;
    const end = whole.lastIndexOf('\n') + 1;
    // A line without an end must not fill the memory.
    const cut = end === 0 && whole.length > 1_048_576 ? whole.length : end;
    partial = whole.slice(cut);
    if (cut === 0) return;
    const lines = redact(whole.slice(0, cut)).replace(/\n$/, '').split('\n');
    if (format === 'human') {
      const prefix = isOneOfMany ? `${harmlessLine(name)} | ` : '';
      io.stdout.write(lines.map((line) => `${prefix}${harmless(line)}\n`).join(''));
    } else for (const line of lines) void print({ instance: name, line });
  };
}
