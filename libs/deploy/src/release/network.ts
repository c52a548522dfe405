/** The network of a build: what its list means, and what is said of what it reached. */

import type { NetworkRefusal } from '@runner/common/audit/network';
import { type HostRule, type Network, ruleFor, ruleText } from '@runner/common/config/network';

import { type Access, accessOf } from '../guard/access.ts';
import { rulesOf } from '../guard/sets.ts';
import { ask } from '../instances/drivers/ask.ts';
import { type Deploy, say } from '../journal/operation.ts';
import type { Step } from '../journal/step.ts';
import { StepFailure, withEnding, withSeen } from '../run/step.ts';
import type { Variables } from '../sandbox/settings.ts';

/** A build, and what is said of its network. */
export interface BuildNetwork {
  readonly ceiling: Network;
  readonly own: Network;
  readonly folder: string;
  readonly shared: string;
  /** The environment of the build, and that of the server for it. */
  readonly env: Variables;
  readonly outerEnv: Variables;
}

/** What a build may reach. Asks package managers, without a network, for the sets that are listed. */
export function buildAccess(op: Deploy, build: BuildNetwork): Access {
  const { ceiling, own, folder, shared, env, outerEnv } = build;
  const { home } = op.paths.app(op.app.app);
  const access = accessOf({
    ceiling,
    own,
    notes: op.network,
    rulesOf(list, whose) {
      const isOwn = whose === 'commit';
      const confinement = op.sandbox.confine('build', { release: folder, shared, network: false });
      return rulesOf(list, {
        folders: isOwn ? [folder, home] : [home],
        ask(command) {
          const where = {
            cwd: isOwn ? folder : '/',
            env: isOwn ? env : { ...outerEnv, HOME: home },
          };
          return ask('/bin/sh', ['-c', command], { ...where, confinement }).stdout;
        },
      });
    },
  });
  for (const rule of access.outside)
    say(op, `network: ${ruleText(rule)} is not in ${placeOf(op)}, and is refused`);
  return access;
}

const placeOf = ({ app }: Deploy) => `sandbox.network.${app.app} of config.yml`;

/** A step of a build whose failure says what it was refused. */
export function guardedStep(op: Deploy, access: Access, step: Step): Step {
  return {
    ...step,
    async run() {
      const before = op.network.refusals.length;
      try {
        return await step.run();
      } catch (error) {
        if (!(error instanceof StepFailure) || error.blame === 'operator') throw error;
        throw withRefusals(error, op.network.refusals.slice(before), (line) =>
          access.most && !ruleFor(access.most, line.host, line.port)
            ? placeOf(op)
            : 'build.network of .deploy.yml',
        );
      }
    },
  };
}

/** Where a rule would be added. */
type PlaceOfRule = (rule: HostRule) => string;

/** Names what a step was refused: first if its output does, too. */
function withRefusals(
  error: StepFailure,
  refused: readonly NetworkRefusal[],
  place: PlaceOfRule,
): StepFailure {
  if (refused.length === 0) return error;
  const named = refused.filter(({ host }) => error.output.includes(host));
  const words = refusalWords(named.length > 0 ? named : refused, place);
  return named.length > 0 ? withSeen(error, words) : withEnding(error, `; ${words}`);
}

/** Refusals in words, at most. */
const NAMED = 3;

/** `the build may not reach evil.example.org (asked for by node setup.js); to allow it, add …`. */
function refusalWords(refused: readonly NetworkRefusal[], place: PlaceOfRule): string {
  const shown = refused.slice(0, NAMED).map((each) => {
    const port = each.port === undefined || each.port === 443 ? '' : `:${each.port}`;
    return `${each.host}${port}${each.by === undefined ? '' : ` (asked for by ${each.by})`}`;
  });
  const more = refused.length > NAMED ? ` and ${refused.length - NAMED} more` : '';
  const lines = refused.slice(0, NAMED).flatMap(lineFor);
  const [first] = lines;
  const entries = lines.map(ruleText).join(', ');
  const advice = first
    ? `to allow it, add to ${place(first)}: ${entries}`
    : 'only names of hosts can be allowed, and a connection must be for its own name';
  return `the build may not reach ${shown.join(', ')}${more}; ${advice}`;
}

/** The entry that would allow it. */
function lineFor({ host, port = 443, why }: NetworkRefusal): HostRule[] {
  if (host === '?' || why === 'address' || why === 'protocol' || why === 'limit') return [];
  return [{ host, port, isPrivate: why === 'private' }];
}

/** What is said of a build that succeeded. */
export function* networkSummary(op: Deploy, learns: boolean): Generator<Step> {
  yield {
    stage: 'build',
    isBrief: true,
    run() {
      const { hosts, refusals } = op.network;
      if (learns) {
        const rules = hosts.map(({ host, port }) => ruleText({ host, port, isPrivate: false }));
        say(op, `the build reached; to allow only this: build: { network: [${rules.join(', ')}] }`);
      }
      const refused = [...new Set(refusals.map(({ host }) => host))];
      if (refused.length > 0) say(op, `the build was refused: ${refused.slice(0, 10).join(', ')}`);
    },
  };
}
