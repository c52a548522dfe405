/** What commands may reach, from what the operator and the commit say. */
import { bounded, HOST_SETS, type HostRule, type Network } from '@runner/common/config/network';
import { HostGuard } from './guard.ts';
import type { NetworkNotes } from './notes.ts';

/** The network of commands. */
export interface Access {
  /** true: all; false: none. */
  readonly network: boolean | HostGuard;
  /** The operator's list. */
  readonly most?: readonly HostRule[] | undefined;
  /** What the commit lists and the operator does not. */
  readonly outside: readonly HostRule[];
  /** What the sets mean, before commands run that are to learn their list, and may change that. */
  readonly sets?: ReadonlyMap<string, readonly HostRule[]>;
}

const isList = (network: Network): network is readonly string[] => typeof network === 'object';

/**
 * A list of the commit counts within that of the operator, `ceiling`, which counts for a commit without one.
 * `rulesOf` says what a list means: the release has no say in that of the operator.
 */
export function accessOf(
  { ceiling, own }: { readonly ceiling: Network; readonly own: Network },
  notes: NetworkNotes,
  rulesOf: (list: readonly string[], whose: 'operator' | 'commit') => readonly HostRule[],
): Access {
  const guard = (rules: readonly HostRule[], learns = false) =>
    new HostGuard({ rules, learns, notes });
  const none = { outside: [] };
  if (ceiling === false || own === false) return { network: false, ...none };
  const most = isList(ceiling) ? rulesOf(ceiling, 'operator') : undefined;
  if (isList(own)) {
    const rules = rulesOf(own, 'commit');
    const { inside, outside } = most ? bounded(rules, most) : { inside: rules, ...none };
    return { network: guard(inside), most, outside };
  }
  if (most) return { network: guard(most), most, ...none };
  if (own === 'learn' || ceiling === 'learn') {
    const sets = HOST_SETS.map((name) => [name, rulesOf([name], 'commit')] as const);
    return { network: guard([], true), sets: new Map(sets), ...none };
  }
  return { network: true, ...none };
}
