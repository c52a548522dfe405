import { setTimeout as sleep } from 'node:timers/promises';
import { missingRoot } from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { canDraw } from '@runner/common/cli/output';
import { signalStatus } from '@runner/common/foundation/failure';
import type { Io } from '@runner/common/foundation/io';
import { OFFLINE } from '@runner/deploy/lifecycle/view';
import type { Snapshot } from '@runner/history/now/snapshot';
import { onceText, plainLine } from '../drawing.ts';
import { TICK, TopSession } from '../session.ts';
import { TopSource } from '../source.ts';

export const top = command({
  about: 'Watch apps, deploys and jobs live',
  details:
    'A screen of all apps with their versions, the running deploy and its log; it shows what has changed\n' +
    'within a second. Keys are shown; d, b and r ask first, then run runner deploy, rollback or restart.\n' +
    'With --plain, and without a terminal, each change is a line. With --json each change prints all apps.',
  options: {
    once: { about: 'Print the apps once' },
    plain: { about: 'Print one line per change, for screen readers and pipes' },
    offline: OFFLINE,
  },
  exits: [[130, 'Ctrl-C']],
  examples: ['runner top', 'runner top --once', 'runner top --plain'],
  safeInForeignRoot: true,
  async run(context) {
    const { io, paths, options, format, style, note } = context;
    const missing = missingRoot(paths);
    if (missing) note(missing);
    const source = new TopSource({ io, paths }, options.offline);
    if (options.once && options.plain && format === 'human') {
      io.stdout.write(changesIn(await source.now(), undefined));
      return {};
    }
    if (options.once) return { value: await source.whole() };
    if (format === 'human' && !options.plain && io.stdin.isTTY && canDraw(io.env, io.stdout)) {
      const now = await source.now();
      return { status: await new TopSession({ io, paths }, source, style, now).run() };
    }
    let before: Snapshot | undefined;
    const status = await everyTick(io, async () => {
      const now = await source.now();
      if (format === 'human') io.stdout.write(changesIn(now, before));
      else if (JSON.stringify(now) !== JSON.stringify(before)) await context.print(now);
      before = now;
    });
    return { status };
  },
  async human(now: Snapshot, style, { io, paths, options }) {
    const drawn = await new TopSource({ io, paths }, options.offline === true).drawn(
      now,
      'apps',
      undefined,
    );
    return onceText(drawn, io.stdout.isTTY ? io.stdout.columns : Number.POSITIVE_INFINITY, style);
  },
});

/** A line for each app that has changed, come or gone, and one for the messages that wait. */
function changesIn(now: Snapshot, before: Snapshot | undefined): string {
  const linesOf = (shown: Snapshot | undefined) => [
    ...(shown?.apps ?? []).map(plainLine),
    ...(shown?.unreadable ?? []).map((app) => `${app}: its state cannot be read`),
    ...(shown?.queue?.waiting ? [`messages that wait: ${shown.queue.waiting}`] : []),
  ];
  const old = new Set(linesOf(before));
  const names = new Set([...now.apps.map(({ app }) => app), ...now.unreadable]);
  const gone = (before?.apps ?? []).filter(({ app }) => !names.has(app));
  const lines = [
    ...linesOf(now).filter((line) => !old.has(line)),
    ...gone.map(({ app }) => `${app}: removed`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Until a signal comes, or the reader of stdout leaves. Resolves the exit status. */
async function everyTick(io: Io, step: () => Promise<void>): Promise<number> {
  const stop = new AbortController();
  let status = 0;
  io.onSignal((signal) => {
    status = signalStatus(signal);
    stop.abort();
  });
  while (!stop.signal.aborted && !io.stdout.closed) {
    await step();
    await sleep(TICK, undefined, { signal: stop.signal }).catch(() => {});
  }
  return status;
}
