/** A package that a lock file fixes. */
import { harmlessLine } from '@runner/common/text/harmless';
import { cutCodePoints } from '@runner/common/text/plain';

/** A package in one version. The file is foreign: so are all texts. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Where its archive is; undefined: at the registry that is configured; null: not at a registry. */
  readonly archive: string | undefined | null;
  /** It runs a script when it is installed, as far as the file says so. */
  readonly script: boolean;
}

const NAME = /^(?:@[a-z0-9~_.-]+\/)?[a-z0-9~_.-]+$/i;
const VERSION = /^\d[a-z0-9.+-]*$/i;
/** Of a name or a version. */
const TEXT_MAX = 214;

/** A package with texts of a bearable length; one whose name no registry can have is not at one. */
export function lockedPackage(
  name: string,
  version: string,
  { archive, script = false }: { archive?: string | undefined | null; script?: boolean },
): LockedPackage {
  const isUsual =
    NAME.test(name) && VERSION.test(version) && Math.max(name.length, version.length) <= TEXT_MAX;
  const short = (text: string) => cutCodePoints(text, TEXT_MAX);
  return {
    name: short(name),
    version: short(version),
    archive: isUsual ? archive : null,
    script,
  };
}

/** `name@version`, on one harmless line. */
export function labelOf({ name, version }: LockedPackage): string {
  return harmlessLine(`${name}@${version}`);
}
