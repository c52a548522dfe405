/** Naming versions: two commits can have the same one, when a tag was moved. */
import type { Deployed } from './deployed.ts';

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

/** That a failure is over: `over: v3 has been deployed since`. */
export function overWords(versions: readonly string[]): string {
  return `over: ${versions.join(', ')} ${versions.length === 1 ? 'has' : 'have'} been deployed since`;
}

/** The versions that were deployed after `at`, in ISO 8601: those that are active, else the newest that was. */
export function deployedSince(
  instances: readonly { current: Deployed | null; previous: readonly Deployed[] }[],
  at: string,
): string[] {
  const since = (all: readonly (Deployed | null)[]) =>
    all.filter((each) => each !== null).filter(({ deployed_at: time }) => time > at);
  const active = since(instances.map(({ current }) => current));
  const left = since(instances.flatMap(({ previous }) => previous));
  const [newest] = left.sort((a, b) => (a.deployed_at < b.deployed_at ? 1 : -1));
  const found = active.length > 0 || !newest ? active : [newest];
  return [...new Set(found.map(({ version }) => version))];
}
