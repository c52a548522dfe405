/** The network of commands: what their list means, and what is said of what they reached. */
import { isIP } from 'node:net';
import { requireApp } from '@runner/common/apps/store';
import type { NetworkRefusal } from '@runner/common/audit/network';
import { readConfig } from '@runner/common/config/file';
import {
  type HostRule,
  isHostName,
  type Network,
  ruleFor,
  ruleText,
} from '@runner/common/config/network';
import { buildLimitsOf, networkCeiling } from '@runner/common/config/sandbox';
import { DEPLOY_FILE } from '@runner/common/deploy-file/read';
import { isThere } from '@runner/common/files/read';
import { listed } from '@runner/common/text/words';
import { extractError } from '@runner/extract/extract';
import { type Access, accessOf } from '../guard/access.ts';
import { HostGuard } from '../guard/guard.ts';
import { rulesOf, shortestList } from '../guard/sets.ts';
import { type Operation, say } from '../journal/operation.ts';
import { StepFailure, withEnding, withOutput, withSeen } from '../run/step.ts';
import type { Folders } from '../sandbox/mounts.ts';
import type { Variables } from '../sandbox/settings.ts';
import { ask } from './drivers/ask.ts';
import type { Target } from './drivers/driver.ts';
import { activeFile } from './target.ts';

/**
 * What the operator lets the commands of an app reach, and where that is written. A preview reaches no more than its app may, or than
 * what runs of its app lists; nothing while nothing runs.
 */
export function ceilingOf(
  { paths, app: { app, preview } }: Pick<Operation, 'paths' | 'app'>,
  kind: 'build' | 'hook',
): { network: Network; place: string } {
  const config = readConfig(paths);
  const of = preview?.of ?? app;
  const isBuild = kind === 'build';
  const ofApp = networkCeiling(config, of);
  const own = ofApp ?? (isBuild ? buildLimitsOf(config, of).network : true);
  const key = ofApp === undefined ? 'build.network' : `sandbox.network.${of}`;
  if (!preview || own !== true) return { network: own, place: `${key} of config.yml` };
  const active = activeFile(paths, requireApp(paths, of));
  const inFile = isBuild ? active?.build.limits.network : active?.hookNetwork;
  const place = `${isBuild ? 'build' : 'hooks'}.network of ${of}'s active ${DEPLOY_FILE}`;
  return { network: inFile ?? false, place };
}

/** Whose network it is. */
interface NetworkRequest {
  /** `build.network`, `hooks.network`: where `.deploy.yml` lists it. */
  readonly key: string;
  /** The operator's. */
  readonly ceiling: ReturnType<typeof ceilingOf>;
  /** The commit's. */
  readonly own: Network;
  readonly folders: Pick<Folders, 'release' | 'shared'>;
  /** The environment of the commands, and that of the server for them. */
  readonly env: Variables;
  readonly outerEnv: Variables;
}

/** What commands may reach. Asks package managers, without a network, what the sets of a list mean. */
export function networkOf(op: Operation, request: NetworkRequest) {
  const { key, ceiling, own, folders, env, outerEnv } = request;
  const { app } = op.app;
  const { home } = op.paths.app(app);
  const limits = { ceiling: ceiling.network, own };
  const access = accessOf(limits, op.network, (list, whose) => {
    const isOwn = whose === 'commit';
    const where = isOwn
      ? { cwd: isThere(folders.release) ? folders.release : '/', env }
      : { cwd: '/', env: { ...outerEnv, HOME: home } };
    return rulesOf(list, {
      folders: isOwn ? [folders.release, home] : [home],
      ask(command) {
        // What a build has left in its HOME has no say in the operator's list: a hook has another one.
        const profile = isOwn ? 'build' : 'hook';
        const confinement = op.sandbox.confine(profile, { ...folders, network: false });
        return ask('/bin/sh', ['-c', command], { ...where, confinement }).stdout;
      },
    });
  });
  for (const rule of access.outside) {
    const [entry, what] = rule.of ? [rule.of, ruleText(rule)] : [ruleText(rule), 'it'];
    say(op, `${key}: ${entry} is refused: ${what} is not in ${ceiling.place}`);
  }
  const place = ({ host, port }: HostRule) =>
    access.most && !ruleFor(access.most, host, port) ? ceiling.place : `${key} of .deploy.yml`;
  const refused = op.network.mark();
  return {
    network: access.network,
    /** Runs a command, whose failure then says what it was refused, else what those before it were. */
    async run<T>(action: () => Promise<T>): Promise<T> {
      const refusedHere = op.network.mark();
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof StepFailure) || error.blame === 'operator') throw error;
        const here = refusedHere();
        if (access.network !== false)
          throw withRefusals(op, error, { refused: here.length > 0 ? here : refused(), place });
        const where = ceiling.network === false ? ceiling.place : `${key} of ${DEPLOY_FILE}`;
        throw withoutNetwork(op, error, where);
      }
    },
    /** Says what commands that are over reached if they were to learn that, and what they were refused. */
    summarize: () => summarize(op, key, { ...access, refused: refused() }),
  };
}

/**
 * Runs a command of a target, other than a build, with the network of its list. Without one it has the
 * network, whatever the operator lists for builds and others: it is a part of the app.
 */
export async function withNetwork<T>(
  op: Operation,
  { release, paths: { shared }, outerEnv }: Pick<Target, 'release' | 'paths' | 'outerEnv'>,
  list: Pick<NetworkRequest, 'key' | 'own' | 'env'>,
  action: (network: boolean | HostGuard) => Promise<T>,
): Promise<T> {
  const most = ceilingOf(op, 'hook');
  const ceiling = list.own === true && !op.app.preview ? { ...most, network: true } : most;
  const folders = { release, shared };
  const { network, run, summarize } = networkOf(op, { ...list, ceiling, folders, outerEnv });
  const done = await run(() => action(network));
  summarize();
  return done;
}

/** Where a rule would be added. */
type PlaceOfRule = (rule: HostRule) => string;

/** Says that there was no network, where the output complains of that: the host it names may be well. */
function withoutNetwork({ log }: Operation, error: StepFailure, where: string): StepFailure {
  if (extractError(error.output).class !== 'network') return error;
  const words = `it has no network: ${where} is false`;
  return withSeen(withOutput(error, log, words), words);
}

/** Names what a step was refused: first if its output does, too. */
function withRefusals(
  { log }: Operation,
  error: StepFailure,
  { refused, place }: { readonly refused: readonly NetworkRefusal[]; readonly place: PlaceOfRule },
): StepFailure {
  if (refused.length === 0) return error;
  const named = refused.filter(({ host }) => error.output.includes(host));
  const words = refusalWords(named.length > 0 ? named : refused, place);
  if (named.length > 0) return withSeen(withOutput(error, log, words), words);
  log.line(words);
  return withEnding(error, `; ${words}`);
}

/** Refusals in words, at most. */
const NAMED = 3;

/** `it may not reach evil.example.org (asked for by node setup.js); to allow it, add …`. */
function refusalWords(all: readonly NetworkRefusal[], place: PlaceOfRule): string {
  const lost = all.filter(({ why }) => why === 'lookup');
  const refused = all.filter(({ why }) => why !== 'lookup');
  const words = [
    ...(lost.length > 0 ? [`there is no address of ${someOf(lost)}`] : []),
    ...(refused.length > 0 ? [deniedWords(refused, place)] : []),
  ];
  return words.join('; ');
}

function someOf(refused: readonly NetworkRefusal[]): string {
  const places = refused.map((each) => {
    const by = each.by === undefined ? '' : ` (asked for by ${each.by})`;
    return `${placeText(each)}${by}`;
  });
  return listed(places, NAMED);
}

function placeText({ host, port }: NetworkRefusal): string {
  if (host === '?')
    return port === undefined
      ? 'a name of no host'
      : `a host that a request to port ${port} does not name`;
  const shown = isHostName(host) || isIP(host) === 4 ? host : unnamed(host);
  return port === undefined || port === 443 ? shown : `${shown}:${port}`;
}

/** An address in brackets; what a program sent in the place of a name, in quotes. */
const unnamed = (host: string) => (isIP(host) === 6 ? `[${host}]` : JSON.stringify(host));

function deniedWords(refused: readonly NetworkRefusal[], place: PlaceOfRule): string {
  const lines = refused.slice(0, NAMED).flatMap(lineFor);
  const [first] = lines;
  const entries = lines.map(ruleText).join(', ');
  const advice = first
    ? `to allow it, add to ${place(first)}: ${entries}`
    : 'only names of hosts can be allowed, and a connection must be for its own name';
  return `it may not reach ${someOf(refused)}; ${advice}`;
}

/** The entry that would allow it. */
function lineFor({ host, port = 443, why }: NetworkRefusal): HostRule[] {
  if (host === '?' || ['lookup', 'address', 'protocol', 'limit'].includes(why)) return [];
  return [{ host, port, isPrivate: why === 'private' }];
}

/** Hosts that a line names. */
const SUMMARIZED = 10;

function summarize(
  op: Operation,
  key: string,
  { network, sets = new Map(), refused }: Access & { readonly refused: readonly NetworkRefusal[] },
): void {
  if (!(network instanceof HostGuard)) return;
  const { hosts } = op.network;
  if (network.learns) {
    const list = shortestList(hosts, sets);
    op.network.learned = list;
    const listed = list.map((rule) => (/^\*|[: ]/.test(rule) ? JSON.stringify(rule) : rule));
    const allow = `to allow what was reached: [${listed.join(', ')}]`;
    say(op, `${key}: ${list.length > 0 ? allow : 'no host was reached'}`);
  }
  for (const [words, isLost] of [
    ['refused', false],
    ['there is no address of', true],
  ] as const) {
    const places = refused.filter(({ why }) => (why === 'lookup') === isLost).map(placeText);
    if (places.length > 0) say(op, `${key}: ${words}: ${listed([...new Set(places)], SUMMARIZED)}`);
  }
}
