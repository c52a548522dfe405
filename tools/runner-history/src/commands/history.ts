import { command } from '@runner/common/cli/command';
import { type Style, table } from '@runner/common/cli/output';
import type { Sink } from '@runner/common/foundation/io';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { cutCodePoints } from '@runner/common/text/plain';
import { durationText } from '@runner/common/text/time';
import {
  type HistoryRow,
  type PastDeploy,
  rowOf,
  versionOfRow,
} from '@runner/history/deploys/deploy';
import { readDeploys } from '@runner/history/deploys/read';
import {
  DEPLOYS_OF,
  deploysOf,
  lineCount,
  periodSince,
  readsLog,
  SINCE,
} from '@runner/history/log/options';

/** Without `--since` and `-n`. */
const COUNT = 20;

export const history = command({
  needsRoot: readsLog,
  about: 'List the deploys, one per line',
  details:
    'Oldest first, from the audit log. RESULT is success, failed (before the switch, or the rollback\n' +
    'failed), rolled_back, interrupted, running or unknown (another tool recorded no end). A ← marks the\n' +
    'version of a manual rollback.\n' +
    'TIME is ISO 8601 (UTC unless it has a zone), a date, or how long ago: 30m, 2h, 7d. With --json each\n' +
    'deploy is one line. With - the records come from standard input, as runner audit list --json or\n' +
    'runner fleet events --json prints them.',
  positionals: DEPLOYS_OF,
  options: {
    since: SINCE,
    lines: {
      short: 'n',
      placeholder: 'N',
      about: `Only the last N, up to 100000 [default: ${COUNT}, or all with --since]`,
    },
  },
  examples: [
    'runner history shop',
    'runner history --since 7d --json',
    'runner audit list --until 2026-01-01 --json | runner history -',
  ],
  safeInForeignRoot: true,
  async run(context) {
    const { io, paths, args, options, format, note, style } = context;
    const since =
      options.since === undefined ? undefined : periodSince(options.since, io.now()).since;
    const count = options.lines === undefined ? undefined : lineCount(options.lines);
    const { project, isPiped } = deploysOf(args);
    const input = isPiped ? io.stdin : undefined;
    const last = since === undefined ? (count ?? COUNT) : count;
    const newest = since === undefined ? last : undefined;
    const all = await readDeploys({ paths, project, input, last: newest, since, note });
    const wanted = all.filter(({ start }) => since === undefined || start >= since);
    const cleaner = new RecordCleaner({ paths, env: io.env });
    const rows: HistoryRow[] = [];
    if (last === 0) return {};
    for (const deploy of wanted.slice(last === undefined ? 0 : -last))
      rows.push(await cleanRow(deploy, cleaner));
    if (format !== 'human') for (const row of rows) await context.print(row);
    else io.stdout.write(textOf(rows, style, io.stdout));
    return {};
  },
});

interface Cleaner {
  clean(record: Readonly<Record<string, unknown>>): unknown;
}

async function cleanRow(deploy: PastDeploy, cleaner: Cleaner): Promise<HistoryRow> {
  return (await cleaner.clean({ ...rowOf(deploy) })) as HistoryRow;
}

const HEADING = ['TIME (UTC)', 'APP', 'RESULT', 'VERSION', 'TOOK', 'BY', 'SUBJECT OR CAUSE'];

/** On a narrower terminal the time is short, so that the result is not cut. */
const NARROW = 60;

function textOf(rows: readonly HistoryRow[], style: Style, stdout: Sink): string {
  if (rows.length === 0) return 'No deploys.\n';
  const isNarrow = stdout.isTTY && stdout.columns < NARROW;
  const cells = rows.map((row) => cellsOf(row, isNarrow));
  const paint = (line: string, [, , result = '']: readonly string[]) => {
    const colour = COLOURS[result];
    return colour ? style[colour](line) : line;
  };
  return table(HEADING, cells, style, { stdout, paint });
}

const COLOURS: Readonly<Record<string, keyof Style>> = {
  failed: 'red',
  rolled_back: 'red',
  interrupted: 'yellow',
  running: 'cyan',
};

/** Of one line, in code points: one without end would fill the terminal, or the file. */
const WHY_MAX = 400;

function cellsOf(row: HistoryRow, isNarrow: boolean): string[] {
  const { project, instance, result, trigger, user } = row;
  const why = cutCodePoints((row.cause ?? '').split('\n')[0] || row.subject || '', WHY_MAX);
  return [
    row.timestamp.slice(...(isNarrow ? [5, 16] : [0, 19])).replace('T', ' ') || '-',
    instance === 'default' ? project : `${project}/${instance}`,
    result,
    versionOfRow(row),
    durationText(row.duration_ms) || '-',
    user ?? trigger ?? '-',
    why,
  ];
}
