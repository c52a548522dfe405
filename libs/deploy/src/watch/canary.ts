/** The steps of a deploy that give a release a share of the requests first, and judge it by them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { durationText } from '@runner/common/text/time';
import { watchLive } from '../instances/drain.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { canaryPlan, shareFolder, shareOut } from '../instances/shares.ts';
import { instancePaths, letPass } from '../instances/slots.ts';
import { type Deploy, say } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { markProxy } from '../proxy/mark.ts';
import { interruption, StepFailure } from '../run/step.ts';
import { lookUntil, sourcesOf } from './look.ts';
import { progressWriter } from './progress.ts';
import { quietLog } from './quiet.ts';

/** One step for each share; none for a first release, or while requests are held. */
export function canarySteps(op: Deploy, all: readonly Target[]): Step[] {
  const ownOf = ({ instance }: Target) => instancePaths(op, instance.name);
  const file = all[0]?.file;
  const instances = all.map(({ instance }) => instance);
  const plan = file && canaryPlan(op.paths.app(op.app.app), file, instances);
  const targets = all.filter(({ instance }) => plan?.instances.includes(instance.name));
  const [first] = targets;
  const rules = first?.file.watch;
  if (!first || !rules) return [];
  const names = targets.map(({ instance }) => instance.name).join(', ');
  let isAlone = false;
  return first.file.canary.map((percent) => ({
    stage: 'canary',
    title: `${percent} % of the requests to ${names} for ${durationText(rules.for)}`,
    instance: first.instance.name,
    slot: first.slot,
    async run() {
      if (isAlone) return;
      for (const target of targets) {
        if (target.slot) shareOut(ownOf(target), target.slot, percent);
        letPass(shareFolder(ownOf(target)));
      }
      isAlone = await judgeShare(op, targets, percent);
    },
  }));
}

/** Between two looks at what does not listen, in ms. */
const POLL = 200;

/** How what has the other requests died, in words; undefined if it listens. `isLast`: there is no other look. */
function deathsOf(op: Deploy, targets: readonly Target[]) {
  const looks = targets.map(({ instance: { name } }) => ({ name, look: watchLive(op, name) }));
  return async (isLast: boolean) => {
    for (const { name, look } of looks) {
      let seen = await look();
      while (isLast && seen.isDeaf && !seen.death && !op.signal.aborted) {
        await sleep(POLL);
        seen = await look();
      }
      const { version } = op.app.instances[name]?.current ?? {};
      if (seen.death) return `${version} of ${name} ${seen.death} while it got the other requests`;
    }
    return undefined;
  };
}

/**
 * Throws a StepFailure of stage `canary` if the release is bad. Whether what has the other requests died:
 * the release gets them at once, for nothing else answers them.
 */
async function judgeShare(
  op: Deploy,
  targets: readonly Target[],
  percent: number,
): Promise<boolean> {
  const [first] = targets;
  const rules = first?.file.watch;
  if (!first || !rules) return false;
  const log = quietLog(op.paths.deployLogs(op.app.app), op.deployId, op.redact);
  const quiet = targets.map((target) => ({ ...target, log }));
  const from = op.journal?.started ?? op.io.now().toISOString();
  const mark = await markProxy(first.file);
  const sources = sourcesOf(op, rules, quiet, { from, ...mark });
  const since = op.io.now().toISOString();
  const until = new Date(Date.parse(since) + rules.for).toISOString();
  const { version, deployId: deploy_id } = op;
  const about = { version, deploy_id, since, until, policy: rules.policy, share: percent };
  const show = progressWriter(op, about, sources);
  const deathNow = deathsOf(op, targets);
  let death: string | undefined;
  const isItsOwn = () => sources.some(({ finding, isOfProxy }) => finding === 'bad' && !isOfProxy);
  try {
    const judgement = await lookUntil(op, sources, rules.for, async () => {
      show(null);
      death = await deathNow(false);
      return death === undefined || isItsOwn();
    });
    if (judgement?.verdict === 'bad') death = await deathNow(true);
    if (death !== undefined && !isItsOwn()) {
      op.shares.push({ percent, verdict: 'not_judged', reason: death });
      say(op, `canary: at ${percent} %: ${death}: ${version} gets all of them`);
      return true;
    }
    if (!judgement) throw interruption('canary');
    const { verdict } = judgement;
    const reason = op.redact(judgement.words);
    op.shares.push({ percent, verdict, reason });
    const isOpen = verdict === 'not_judged';
    const words = `canary: at ${percent} %: ${isOpen ? 'not judged: ' : ''}${reason}`;
    if (isOpen) say(op, words);
    else op.log.line(words);
    if (verdict === 'bad') throw new StepFailure('canary', words, { seen: words });
    return false;
  } finally {
    for (const source of sources) source.close?.();
  }
}
