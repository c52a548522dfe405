/** The newest entries of the journal. */
import { ask } from './ask.ts';

/** Bytes of an answer that lists entries. */
const LIST_MAX = 268_435_456;

/** Entries of the journal. */
interface JournalQuery {
  /** The arguments of journalctl that say whose. */
  readonly which: readonly string[];
  /** In seconds since 1970. */
  readonly since: number;
  readonly lines: number;
  /** How an entry is printed [default: its message]. */
  readonly output?: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The arguments of journalctl that show the newest entries since a time, and whether there are older
 * ones. Until systemd 254, `--since` with `--lines` shows the oldest, so the place to begin is looked
 * up. Blocks.
 */
export function newestOf({ which, since, lines, output = 'cat', env }: JournalQuery): {
  readonly args: readonly string[];
  readonly isCut: boolean;
} {
  const from = ['--since', `@${since}`];
  const list = ['--reverse', '--lines', String(lines + 1), '--output', 'json'];
  // A field that few entries have: each line is short.
  const short = ['--output-fields', 'MESSAGE_ID', '--quiet'];
  const args = [...which, ...from, ...list, ...short];
  const { status, stdout } = ask('journalctl', args, { env, most: LIST_MAX });
  const before = status === 0 ? stdout.trimEnd().split('\n')[lines] : undefined;
  const start = before === undefined ? from : ['--after-cursor', JSON.parse(before).__CURSOR];
  const how = ['--lines', 'all', '--no-pager', '--quiet', '--output', output];
  return { args: [...which, ...start, ...how], isCut: before !== undefined };
}
