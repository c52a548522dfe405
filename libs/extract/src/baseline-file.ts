/**
 * What an app's last good deploy printed, per step: `apps/<app>/baseline.json`. It holds short
 * hashes of the shapes of redacted lines, no text.
 */

import { readTextIfThere } from '@runner/common/files/read';
import { writeWhole } from '@runner/common/files/write';
import { isAppName } from '@runner/common/foundation/names';
import type { Paths } from '@runner/common/foundation/paths';
// By the package's name, so that the bundler takes it from the file of its own.
import { type Baseline, baselineOf } from '@runner/extract/extract';

/** Steps kept of one deploy; each holds at most 4000 ids of some 10 characters. */
const STEPS_MAX = 64;
/** A file of ours stays below this. */
const FILE_MAX = 8_388_608;

/** The ids of the lines of each step, by the step's name. */
export type StepShapes = ReadonlyMap<string, readonly string[]>;

/** Replaces the app's baseline by that of a good deploy. Throws `disk_full`, `not_writable`. */
export function writeBaseline(
  paths: Paths,
  app: string,
  deployId: string,
  steps: StepShapes,
): void {
  const kept = [...steps].slice(-STEPS_MAX);
  const content = { version: 1, deploy_id: deployId, steps: Object.fromEntries(kept) };
  writeWhole(paths.app(app).baseline, `${JSON.stringify(content)}\n`, 0o640);
}

/**
 * The lines that an app's last good deploy printed: in `step`, if that deploy had it, else in any
 * step. If the file is missing or unreadable, no line is known: a baseline only helps.
 */
export function readBaseline(paths: Paths, app: string, step?: string): Baseline {
  // The name may come from a forged record.
  const steps = isAppName(app) ? stepsIn(paths.app(app).baseline) : new Map<string, string[]>();
  const own = step === undefined ? undefined : steps.get(step);
  return baselineOf(own ?? [...steps.values()].flat());
}

function stepsIn(path: string): Map<string, string[]> {
  try {
    const { version, steps } = JSON.parse(readTextIfThere(path, FILE_MAX) ?? '{}');
    if (version !== 1 || steps === null || typeof steps !== 'object') return new Map();
    const texts = (value: unknown) =>
      Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string') : [];
    return new Map(Object.entries(steps).map(([step, ids]) => [step, texts(ids)]));
  } catch {
    return new Map();
  }
}
