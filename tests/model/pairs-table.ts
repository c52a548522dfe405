/**
 * What must hold after each pair of what an app is and what is done to it: one table for all drivers,
 * with and without `traffic`. A cell says which version is served (`-`: none) and the word of `list`;
 * `!` before it: the command is refused, or fails. A deploy that was killed while it drained is not done
 * until the next command, so a backup made before that has `v1`.
 */

/** Where an app has got to. `v2` is active after `v1` in all but `held`. */
export const STATES = [
  'running',
  'stopped',
  'paused',
  'held',
  'blocked',
  'broken',
  'restored',
  'draining',
  'before-traffic',
  'watched',
  'migrating',
  'restoring',
] as const;
export type PairState = (typeof STATES)[number];

/**
 * What is done, `.`: never; a kill of a command has no row: it ends as if the command had run, or had not.
 * `no traffic*` is before-traffic: the version before runs without it. `migrating`: the migration of `v3` was
 * killed; `restoring`: the rollback from `v2` that restores the database of `v1`.
 */
const TABLE = `
                running        stopped        paused         held           blocked        broken         restored       draining       no traffic*    watched        migrating      restoring
nothing         v2 ok          - stopped      v2 paused      v1 held        v2 blocked     - broken       - down         v2 ok          v2 ok          v2 ok          v2 interrupted v2 ok
deploy          v3 ok          v3 ok          !v2 paused     v3 ok          v4 ok          v4 ok          v3 ok          v3 ok          v3 ok          v3 ok          !v2 failing    v3 ok
bad             !v2 failing    !- stopped     !v2 paused     !v1 failing    !v2 failing    !v2 failing    !- down        !v2 failing    !v2 failing    !v2 failing    !v2 failing    !v2 failing
fetch           v3 ok          - stopped      v2 paused      v3 ok          v4 ok          v4 ok          v2 ok          v3 ok          v3 ok          v3 ok          !v2 failing    v3 ok
rollback        v1 held        v1 held        v1 paused      !v1 held       v2 blocked     v2 failing     !- down        v1 held        !v2 ok         v1 held        v2 interrupted !v2 ok
restart         v2 ok          v2 ok          v2 paused      v1 held        v2 blocked     v2 failing     !- down        v2 ok          v2 ok          v2 ok          v2 interrupted v2 ok
env-restart     v2 ok          v2 ok          v2 paused      v1 held        v2 blocked     v2 failing     !- down        v2 ok          v2 ok          v2 ok          .              .
start           v2 ok          v2 ok          v2 paused      v1 held        v2 blocked     v2 failing     !- down        v2 ok          v2 ok          v2 ok          v2 interrupted v2 ok
stop            - stopped      - stopped      - stopped      - stopped      - stopped      - broken       !- down        - stopped      - stopped      - stopped      - stopped      - stopped
remove          - gone         - gone         - gone         - gone         - gone         - gone         - gone         - gone         - gone         - gone         - gone         - gone
reboot          v2 ok          - stopped      v2 paused      v1 held        v2 blocked     v2 failing     - down         v2 ok          v2 ok          v2 ok          v2 interrupted v2 ok
backup          v2 ok          - stopped      v2 paused      v1 held        v2 blocked     v2 failing     v2 ok          v2 ok          v2 ok          v2 ok          - down         .
migrated        .              .              .              .              .              .              .              .              .              .              v4 ok          .
`;

/** What is done to an app, alone or with its whole server. */
const OPERATIONS = TABLE.trim()
  .split('\n')
  .slice(2)
  .map((line) => line.split(/\s+/)[0] as string);

/** Commands that are killed at any moment. */
const KILLED = ['deploy', 'rollback', 'restart', 'env-restart', 'start', 'stop', 'remove'];

/** All that is done. */
export const EVERY_OPERATION = [...OPERATIONS, ...KILLED.map((each) => `kill ${each}`)];

/** What a cell says. */
export interface Expected {
  readonly isRefused: boolean;
  readonly served: string | null;
  readonly word: string;
}

function expectedIn(cell: string): Expected {
  const [, sign, served, word] = /^(!?)(\S+) (\S+)$/.exec(cell) ?? [];
  if (!served || !word) throw new Error(`no cell: ${cell}`);
  return { isRefused: sign === '!', served: served === '-' ? null : served, word };
}

/** Columns of the table: the names of the operations, and each cell. */
const COLUMNS = { first: 16, each: 15 };

function cellOf(state: PairState, operation: string): string {
  const line = TABLE.split('\n').find((each) => each.startsWith(`${operation} `)) ?? '';
  const from = COLUMNS.first + COLUMNS.each * STATES.indexOf(state);
  return line.slice(from, from + COLUMNS.each).trim();
}

/** The cell of a pair; of the operation `nothing`, what the app is. */
export function expected(state: PairState, operation: string): Expected {
  return expectedIn(cellOf(state, operation));
}

/**
 * Pairs that are not in the table, and that cannot be: nothing drains without traffic, and with it a
 * failing version takes no one's place.
 */
export function isPossible(state: PairState, operation: string, hasTraffic: boolean): boolean {
  if (cellOf(state, operation.replace('kill ', '')) === '.') return false;
  if (state === 'draining' || state === 'before-traffic') return hasTraffic;
  return state !== 'broken' || !hasTraffic;
}

/**
 * The pairs of a list like `held × kill stop;running × deploy`; undefined without one. Throws an Error that
 * names what is no pair.
 */
export function chosenPairs(list: string | undefined): readonly string[] | undefined {
  if (!list) return undefined;
  const chosen = list.split(';').map((each) => each.trim());
  const all = STATES.flatMap((state) => EVERY_OPERATION.map((each) => `${state} × ${each}`));
  const unknown = chosen.find((each) => !all.includes(each));
  if (unknown === undefined) return chosen;
  throw new Error(
    `PAIRS_ONLY: '${unknown}' is not a pair: a state (${STATES.join(', ')}), ' × ' and an operation (${EVERY_OPERATION.join(', ')})`,
  );
}
