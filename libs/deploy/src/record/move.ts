/** An instance that changes its version, in whatever direction. */
import type { Deployed } from '@runner/common/apps/state';

/** What names a version of an app. */
export type Version = Pick<Deployed, 'release' | 'version' | 'commit'>;

/** An instance that goes, or went, from one version to another. */
export interface Move {
  readonly instance: string;
  readonly from: Omit<Version, 'release'>;
  /** null: there is no version to go back to; the instance is stopped. */
  readonly to: Deployed | null;
  /** Why the move failed; undefined if it is only planned, or succeeded. */
  readonly problem?: string | undefined;
}

/** Each failed move in words. */
export function problemsOf(moves: readonly Move[], verb: 'rollback' | 'return'): string[] {
  return moves.flatMap(({ to, problem }) =>
    problem === undefined ? [] : [`${verb} to ${to?.version ?? 'nothing'} failed: ${problem}`],
  );
}
