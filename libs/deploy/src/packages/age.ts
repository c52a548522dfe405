/** Whether the packages that a commit brings are old enough: a bad one is often found within days. */

import { shortTime } from '@runner/common/apps/operator';
import type { AppState } from '@runner/common/apps/state';
import { readConfig } from '@runner/common/config/file';
import { packageAgeFloor } from '@runner/common/config/sandbox';
import type { Paths } from '@runner/common/foundation/paths';
import { durationText } from '@runner/common/text/time';
import { listed } from '@runner/common/text/words';
import { activeFile } from '../instances/target.ts';
import type { BroughtPackages } from './brought.ts';
import { labelOf } from './package.ts';
import { type RegistryRequest, registryFinder, timesFrom } from './registry.ts';

/** Documents that are asked for; of a commit that brings more, the ages are not known. */
const ASKED_MAX = 500;
/** At once: each may be large. */
const AT_ONCE = 4;
/** For all of them, in ms. */
const PATIENCE = 60_000;
const SHOWN = 3;

/**
 * How old new packages must be, in ms: the longer one of the operator's and of the release that is active,
 * so that no commit lifts its own gate. 0: any age. Throws `config_invalid`.
 */
export function leastAge(paths: Paths, app: AppState): number {
  const own = activeFile(paths, app)?.minPackageAge ?? 0;
  return Math.max(own, packageAgeFloor(readConfig(paths)));
}

/** Looks at the age of what is brought; undefined: all of it is old enough. */
export async function youngAmong(
  { io, signal }: Pick<RegistryRequest, 'io' | 'signal'>,
  { added, wasLocked, isLocked, configuration, ...brought }: BroughtPackages,
  least: number,
) {
  const problem = wasLocked && !isLocked ? 'its lock files are gone' : brought.problem;
  const now = io.now().getTime();
  const published = await publishedOf({ io, signal, configuration }, added);
  const young = added.flatMap((each, at) => {
    const time = published[at];
    return time !== undefined && now - time < least
      ? [{ name: labelOf(each), until: time + least }]
      : [];
  });
  const unknown = added.filter((_, at) => published[at] === undefined).map(labelOf);
  const hours = least / 3_600_000;
  const age = Number.isInteger(hours) ? `${hours} h` : durationText(least);
  const youngNames = young.map(({ name }) => name);
  const parts = [
    ...(young.length > 0
      ? [`${listed(youngNames, SHOWN)} ${young.length > 1 ? 'are' : 'is'} younger than ${age}`]
      : []),
    ...(unknown.length > 0 ? [`the age of ${listed(unknown, SHOWN)} is not known`] : []),
    ...(problem === undefined ? [] : [problem]),
  ];
  if (parts.length === 0) return undefined;
  const isKnown = unknown.length === 0 && problem === undefined;
  return {
    /** `name@version`, with those whose age is not known. */
    names: [...youngNames, ...unknown],
    why: parts.join('; '),
    /** When the last of them is old enough, in ms since 1970; undefined: not known. */
    until: isKnown ? Math.max(...young.map(({ until }) => until)) : undefined,
  };
}

/** What a commit waits for, after the word `waits`. */
export function waitWords({ why, until }: { why: string; until: number | undefined }): string {
  return until === undefined
    ? `: ${why}`
    : ` until ${shortTime(new Date(until).toISOString())}: ${why}`;
}

/** When each package was published, in ms since 1970; undefined: not known. */
async function publishedOf(
  request: RegistryRequest,
  added: BroughtPackages['added'],
): Promise<(number | undefined)[]> {
  const { find, mayAsk } = registryFinder(request);
  const found = added.map((each) => ({ each, registry: find(each) }));
  const documents = new Map<string, { registry: string; name: string }>();
  for (const { each, registry } of found)
    if (registry !== undefined) documents.set(registry + each.name, { registry, name: each.name });
  if (documents.size > ASKED_MAX) return added.map(() => undefined);
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(PATIENCE)]);
  const times = timesFrom({ io: request.io, signal });
  const allowed = new Map<string, Promise<boolean>>();
  const answers = new Map<string, (version: string) => number | undefined>();
  const left = [...documents];
  const work = async () => {
    for (let next = left.pop(); next; next = left.pop()) {
      const [key, { registry, name }] = next;
      const may = allowed.get(registry) ?? mayAsk(registry);
      allowed.set(registry, may);
      if (await may) answers.set(key, await times(registry, name));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found.map(({ each, registry }) => answers.get(registry + each.name)?.(each.version));
}
