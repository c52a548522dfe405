/** Shows what is active of an app prints, and what comes. */

import { requireApp } from '@runner/common/apps/store';
import type { Context } from '@runner/common/cli/command';
import type { Paths } from '@runner/common/foundation/paths';
import { redactorFor, redactorForAny } from '@runner/common/redaction/redact';
import type { Redactor } from '@runner/common/secrets/redactor';
import { harmless, harmlessLine } from '@runner/common/text/harmless';
import { activeTargets } from '@runner/deploy/lifecycle/active';
import {
  FollowedFile,
  follow,
  processFiles,
  type ShowText,
} from '@runner/deploy/lifecycle/followed';
import { type Extent, outputOf } from '@runner/deploy/lifecycle/output';
import { showProgram } from '@runner/deploy/lifecycle/show';
import { readMarks } from '@runner/deploy/run/output-marks';

type Shower = Pick<Context, 'io' | 'paths' | 'format' | 'print' | 'note'>;

/** An app, or only one of its instances. */
interface LogSubject {
  readonly app: string;
  readonly only: string | undefined;
}

/** Returns the exit status. */
export async function showOutput(
  context: Shower,
  subject: LogSubject,
  wanted: Extent,
): Promise<number> {
  const { io, paths } = context;
  const { app } = subject;
  const { since, until } = wanted;
  const quick = wanted.follow ? undefined : ofProcesses(paths, subject);
  const outputs = quick ?? (await ofActive(context, subject, wanted));
  const files = outputs.flatMap(({ instance, output }) =>
    'files' in output
      ? output.files.map((path) => ({ instance, file: new FollowedFile(path) }))
      : [],
  );
  const isTimed = since !== undefined || until !== undefined;
  const marks = isTimed ? readMarks(paths.app(app).dir) : [];
  const timeOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const period = { marks, since: timeOf(since), until: timeOf(until) };
  const ends = files.map(({ file }) => file.last(wanted.lines, period));
  if (wanted.timestamps && files.length > 0)
    context.note('lines carry no time: only systemd and docker keep it');
  notePeriod(context, ends);
  const isCut =
    ends.some((end) => end.isCut) ||
    outputs.some(({ output }) => 'isCut' in output && output.isCut);
  if (since !== undefined && isCut)
    context.note(
      `only the newest ${wanted.lines} lines since ${since} are shown; for more, use -n`,
    );
  const place = { paths, env: io.env };
  const texts = ends.map(({ text }) => text);
  const redact = quick ? await redactorFor(texts, place, app) : await redactorForAny(place, app);
  const isOneOfMany = new Set(outputs.map(({ instance }) => instance)).size > 1;
  let isEmpty = true;
  const showOf = (instance: string): ShowText => {
    const show = shownBy(context, instance, isOneOfMany, redact);
    return (text) => {
      isEmpty &&= text === '';
      show(text);
    };
  };
  const shown = files.map(({ instance, file }, at) => {
    const show = showOf(instance);
    show(texts[at] ?? '');
    return { file, show };
  });
  const programs = outputs.flatMap(({ instance, output }) =>
    'files' in output ? [] : [output.run(showOf(instance))],
  );
  const isFollowing = wanted.follow && shown.length > 0;
  const statuses = await Promise.all([...(isFollowing ? [follow(io, shown)] : []), ...programs]);
  if (isEmpty && isTimed && !wanted.follow) {
    const ending = until === undefined ? '' : ` until ${until}`;
    context.note(`no output${since === undefined ? '' : ` since ${since}`}${ending}`);
  }
  return Math.max(0, ...statuses);
}

/** What of files is shown beyond the wanted period: their lines carry no times. */
function notePeriod(
  { note }: Shower,
  ends: readonly { readonly from?: number | undefined; readonly to?: number | undefined }[],
): void {
  const from = Math.min(...ends.map((end) => end.from ?? Number.POSITIVE_INFINITY));
  const to = Math.max(...ends.map((end) => end.to ?? Number.NEGATIVE_INFINITY));
  const words = [
    ...(Number.isFinite(from) ? [`from ${new Date(from).toISOString()} on`] : []),
    ...(Number.isFinite(to) ? [`until ${new Date(to).toISOString()}`] : []),
  ];
  if (words.length > 0) note(`lines carry no time: shown ${words.join(', ')}`);
}

type Outputs = readonly {
  readonly instance: string;
  readonly output: { readonly files: readonly string[] } | LogProgram;
}[];

/** A program that shows the output. */
interface LogProgram {
  /** Whether it leaves out older lines since the wanted time. */
  readonly isCut: boolean;
  run(show: ShowText): Promise<number>;
}

/** What is active, as its `.deploy.yml` says. */
async function ofActive(
  context: Shower,
  { app, only }: LogSubject,
  wanted: Extent,
): Promise<Outputs> {
  const { io, paths } = context;
  return activeTargets(context, app, only).flatMap((target) =>
    outputOf(paths, target, wanted).map((output) => {
      const { name: instance } = target.instance;
      if ('files' in output) return { instance, output };
      const run = (show: ShowText) => showProgram(io, output, wanted.follow, show);
      return { instance, output: { isCut: output.isCut ?? false, run } };
    }),
  );
}

/** The same without reading any `.deploy.yml`; undefined unless `process` started all of it. */
function ofProcesses(paths: Paths, { app, only }: LogSubject): Outputs | undefined {
  const instances = Object.entries(requireApp(paths, app).instances).flatMap(
    ([name, { current }]) =>
      current && (only === undefined || name === only) ? [{ name, start: current.start }] : [],
  );
  if (instances.length === 0 || instances.some(({ start }) => start !== 'process'))
    return undefined;
  return instances.map(({ name: instance }) => {
    const files = processFiles(paths.app(app).instance(instance), false);
    return { instance, output: { files } };
  });
}

/** Prints whole lines, redacted; with the instance's name if there are several. */
function shownBy(
  { io, format, print }: Pick<Context, 'io' | 'format' | 'print'>,
  name: string,
  isOneOfMany: boolean,
  redact: Redactor,
): ShowText {
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
