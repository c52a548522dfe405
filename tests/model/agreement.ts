/** Whether all that can be seen of an app agrees with itself and with the rules. */
import { type Rules, stateWord } from './rules.ts';
import type { LogLine, Observed } from './subject.ts';

/** What differs, in words; empty if all agrees. */
export function differences(
  rules: Rules,
  seen: Observed,
  ids: ReadonlyMap<string, string>,
): string[] {
  const found: string[] = [];
  const compare = (what: string, actual: unknown, wanted: unknown) => {
    const [is, should] = [actual, wanted].map((each) => JSON.stringify(each));
    if (is !== should) found.push(`${what}: ${is}, wanted ${should}`);
  };
  const { state, listed } = seen;
  const recorded = versionsIn(seen.log);
  for (const name of Object.keys(seen.served)) {
    const { current = null, previous = [] } = rules.instances[name] ?? {};
    const wanted = current?.version ?? null;
    const row = listed.instances.find(({ instance }) => instance === name);
    const known = state.instances[name];
    compare(`served by ${name}`, seen.served[name], wanted);
    compare(`current of ${name}`, seen.linked[name], wanted);
    compare(`list of ${name}`, row?.current?.version ?? null, wanted);
    compare(`state of ${name}`, known?.current?.version ?? null, wanted);
    compare(`log of ${name}`, recorded.get(name) ?? null, wanted);
    compare(`commit of ${name}`, known?.current?.commit, ids.get(wanted ?? ''));
    const sorted = (all: readonly { version: string }[] = []) =>
      all.map(({ version }) => version).sort();
    compare(`kept by ${name}`, sorted(known?.previous), sorted(previous));
    if (current && row?.running !== true) found.push(`list of ${name}: it does not run`);
  }
  for (const [version, inside] of seen.kept) compare(`release of ${version}`, inside, version);
  compare('unfinished releases', seen.unfinished, []);
  const { failures } = rules;
  compare(
    'failures',
    state.failures && [state.failures.commit, state.failures.count],
    failures && [ids.get(failures.version), failures.count],
  );
  found.push(...holdDifferences(rules, state, ids), ...openDeploys(seen.log));
  compare('deploying', state.deploying, null);
  compare('check_failed', state.check_failed ?? null, null);
  compare('state word', listed.state, stateWord(rules));
  return found;
}

/** The hold is there exactly if the rules have one, and names the head and all that was left. */
function holdDifferences(
  { held }: Rules,
  state: Observed['state'],
  ids: ReadonlyMap<string, string>,
): string[] {
  const commits = state.held ? [...(state.held.commits ?? []), state.held.commit] : null;
  if (!held || !commits) {
    const is = commits ? 'there is one' : 'there is none';
    return Boolean(held) === Boolean(commits) ? [] : [`hold: ${is}, wanted ${held ?? 'none'}`];
  }
  return held
    .filter((version) => !commits.includes(ids.get(version) as string))
    .map((version) => `hold: lacks ${version} of ${held}`);
}

/** What the log says each instance runs. */
export function versionsIn(log: readonly LogLine[]): Map<string, string> {
  const versions = new Map<string, string>();
  for (const line of log) {
    const names = String(line.instance).split(',');
    if (line.event_type === 'DeploySuccess') {
      // The record of each instance names all of them; the others are no longer in .deploy.yml.
      const all = Array.isArray(line.instances) ? line.instances : names;
      for (const name of versions.keys()) if (!all.includes(name)) versions.delete(name);
    } else if (line.event_type !== 'RollbackSuccess') continue;
    for (const name of names) versions.set(name, String(line.version));
  }
  return versions;
}

/** Every deploy that began has ended, in one way. */
export function openDeploys(log: readonly LogLine[]): string[] {
  const ends = new Map<unknown, Set<unknown>>();
  for (const { event_type: kind, deploy_id: id, from_version } of log) {
    // The events of a rollback by hand end no deploy.
    if (kind === 'DeployStarted') ends.set(id, new Set());
    else if (/^Deploy/.test(String(kind)) && from_version === undefined) ends.get(id)?.add(kind);
  }
  return [...ends]
    .filter(([, kinds]) => kinds.size !== 1)
    .map(([id, kinds]) => `log: deploy ${id} ended as [${[...kinds]}]`);
}
