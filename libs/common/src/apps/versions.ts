/** Naming versions: two commits can have the same one, when a tag was moved. */
import type { Deployed } from './state.ts';

type Named = Pick<Deployed, 'version' | 'commit'>;

/** Characters of a commit that are shown. */
const SHORT = 12;

/** The version, with the commit if another commit among these has the same version. */
export function versionLabel(one: Named, among: readonly (Named | null)[]): string {
  return isUnique(one, among) ? one.version : `${one.version} (${one.commit.slice(0, SHORT)})`;
}

/** What `--to` takes: the version, or the commit if another one among these has the same version. */
export function versionArgument(one: Named, among: readonly (Named | null)[]): string {
  return isUnique(one, among) ? one.version : one.commit.slice(0, SHORT);
}

function isUnique({ version, commit }: Named, among: readonly (Named | null)[]): boolean {
  return among.every((each) => each?.version !== version || each.commit === commit);
}
