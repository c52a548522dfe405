/** The list that allows what commands reached that were to learn it. */
import { type HostRule, ruleFor, ruleText } from '@runner/common/config/network';

/** The shortest list: sets, then hosts by their names; of two as long the one with fewer hosts. */
export function shortestList(
  reached: readonly Pick<HostRule, 'host' | 'port'>[],
  sets: ReadonlyMap<string, readonly HostRule[]>,
): string[] {
  const lists = Array.from({ length: 2 ** sets.size }, (_, bits) => {
    const names = [...sets.keys()].filter((_name, at) => bits & (1 << at));
    const rules = names.flatMap((name) => sets.get(name) ?? []);
    const rest = reached.filter(({ host, port }) => !ruleFor(rules, host, port));
    const hosts = rest.map(({ host, port }) => ruleText({ host, port, isPrivate: false }));
    return { list: [...names, ...hosts.sort()], rest: rest.length };
  });
  lists.sort((a, b) => a.list.length - b.list.length || a.rest - b.rest);
  return lists[0]?.list ?? [];
}
