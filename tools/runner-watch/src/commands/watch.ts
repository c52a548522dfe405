import type { AppState } from '@runner/common/apps/state';
import { findApp, requireApp } from '@runner/common/apps/store';
import type { WatchEnd, WatchState } from '@runner/common/apps/watch';
import { type Context, command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { EXIT, Failure } from '@runner/common/foundation/failure';
import { poll } from '@runner/common/foundation/poll';
import { harmlessLine } from '@runner/common/text/harmless';
import { activeFile } from '@runner/deploy/instances/target';
import { failedSince } from '@runner/deploy/journal/after-rollback';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { carryWatch } from '@runner/deploy/watch/carry';
import {
  diedWords,
  hasWatcher,
  lostWords,
  readProgress,
  type WatchProgress,
} from '@runner/deploy/watch/progress';
import { PROXIES, type SharingProxy, snippetFor } from '../snippets.ts';

/** The last object of `runner watch --json`: how the newest watch of an app ended, or that it has lost its watcher. */
type WatchResult = { readonly app: string } & (
  | WatchEnd
  | (Pick<WatchEnd, 'version' | 'reason'> & { readonly verdict: null })
  | { readonly verdict: null; readonly reason?: never }
);

/** What `--proxy` prints. */
interface Snippet {
  readonly proxy: SharingProxy;
  readonly text: string;
}

const NOT_JUDGED = 3;
const STATUS = { good: EXIT.ok, bad: EXIT.failed, not_judged: NOT_JUDGED };

export const watch = command({
  about: 'Follow the watch of a release',
  details:
    'With `watch` in .deploy.yml a release is judged after it is live: by its health, its processes, the\n' +
    'errors it prints, the requests in an access log, a command, a query. This shows what is found until\n' +
    'the watch ends; without one, how the newest one ended. Ctrl-C ends only the output. With --json each\n' +
    'change is one line, and the last line is the result.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    proxy: {
      placeholder: 'NAME',
      choices: PROXIES,
      conflicts: ['carry'],
      about: 'Print what nginx, Caddy or HAProxy needs for a canary instead',
    },
    carry: {
      about: 'Do the watching, unless another process does: a deploy starts this in the background',
    },
  },
  exits: [
    [1, 'The release was judged bad'],
    [
      NOT_JUDGED,
      'It could not be judged: too little to see, it was ended early, or no one watches',
    ],
  ],
  examples: ['runner watch shop', 'runner watch shop --json', 'runner watch shop --proxy nginx'],
  async run(context) {
    const { paths, args, options } = context;
    if (options.proxy !== undefined) {
      const app = requireApp(paths, args.app);
      const { instances } = app;
      if (activeFile(paths, app)?.canary.length === 0)
        throw new Failure(
          'not_ready',
          `what is active of '${args.app}' has no canary: put traffic: socket, watch and canary into its .deploy.yml and deploy it once`,
        );
      const known = Object.keys(instances);
      const slotted = known.filter((name) => instances[name]?.slots);
      // It may be printed before the first deploy with traffic.
      const names = slotted.length > 0 ? slotted : known.length > 0 ? known : ['default'];
      const proxy = options.proxy as SharingProxy;
      return { value: { proxy, text: snippetFor(paths, args.app, names, proxy) } };
    }
    let followed: FollowedWatch | undefined;
    if (options.carry) await carry(context);
    else {
      const shown = await show(context);
      if (shown.status !== EXIT.ok) return { status: shown.status };
      followed = shown.followed;
    }
    const value: WatchResult = { app: args.app, ...resultOf(context, followed) };
    const isLost = value.verdict === null && value.reason !== undefined;
    return { value, status: isLost ? NOT_JUDGED : STATUS[value.verdict ?? 'good'] };
  },
  human: (value: WatchProgress | WatchResult | Snippet, style) =>
    'proxy' in value
      ? value.text
      : 'sources' in value
        ? progressText(value, style)
        : resultText(value, style),
});

/** What is printed again only if it changes: not each count. */
function keyOf({ sources, share, warm_bytes: warm }: WatchProgress): string {
  return JSON.stringify([
    share,
    sources.map(({ name, finding }) => [name, finding]),
    warm === null,
  ]);
}

type WatchContext = Pick<Context, 'io' | 'paths' | 'note' | 'errStyle' | 'print'> & {
  readonly args: { readonly app: string };
};

async function carry(context: WatchContext): Promise<void> {
  const { io, paths, args } = context;
  const interruption = interruptionOf(io);
  const display = { ...context, format: 'human' as const, options: { events: false } };
  const { reporter, end } = progressFor(display, false);
  try {
    await carryWatch({ io, paths, app: args.app, reporter, signal: interruption.signal });
  } finally {
    end();
    interruption.remove();
  }
}

/** Longest time in which another watcher may take the place of one that ended, in ms. */
const LOST_FOR = 3_000;

type FollowedWatch = Pick<WatchState, 'deploy_id' | 'version' | 'since'>;

/** What is judged: the release that is watched, or one that has a share of the requests. */
function judgedIn({ watch, deploying }: AppState, followed: FollowedWatch | undefined) {
  if (watch) return watch;
  // Between its last share and its watch it is in other stages.
  const isJudged =
    deploying?.stage === 'canary' || (followed && deploying?.deploy_id === followed.deploy_id);
  return isJudged && deploying ? { ...deploying, since: deploying.started } : undefined;
}

/** Prints what changes until the watch ends, or no one watches. Returns the exit status, and the deploy that it was about. */
async function show({ io, paths, args: { app }, print }: WatchContext) {
  let shown = '';
  let followed: FollowedWatch | undefined;
  let seen = io.elapsed();
  const status = await poll(io, async () => {
    // It may be removed meanwhile.
    const state = (followed === undefined ? requireApp : findApp)(paths, app);
    const judged = state && judgedIn(state, followed);
    if (!judged) return 'end';
    followed = judged;
    if (hasWatcher({ io, paths }, app, judged)) seen = io.elapsed();
    if (io.elapsed() - seen > LOST_FOR) return 'end';
    const progress = readProgress(paths, app, judged.deploy_id);
    const key = progress ? keyOf(progress) : '';
    if (progress && key !== shown) await print(progress);
    shown = key;
    return 'wait';
  });
  return { status, followed };
}

/** How what was followed, or the newest watch, ended. */
function resultOf({ io, paths, args: { app } }: WatchContext, followed: FollowedWatch | undefined) {
  const known = findApp(paths, app);
  if (!known && followed) {
    const { deploy_id, version, since } = followed;
    const end = { verdict: 'not_judged' as const, reason: 'ended early by a removal' };
    return { deploy_id, version, since, at: io.now().toISOString(), ...end };
  }
  const state = known ?? requireApp(paths, app);
  const { watched, last_failure: failure } = state;
  const judged = judgedIn(state, followed);
  if (judged && followed !== undefined) {
    const { version, deploy_id: id } = judged;
    const reason = state.watch
      ? lostWords(app, version)
      : diedWords(app, version, readProgress(paths, app, id)?.share);
    return { verdict: null, version, reason };
  }
  // It was judged by its share later than what is active.
  const isNewest = failedSince(state) && !(watched && failure && watched.at > failure.at);
  if (failure?.stage !== 'canary' || !(failure.deploy_id === followed?.deploy_id || isNewest))
    return watched ?? { verdict: null };
  const { deploy_id, version, at, error: reason, interrupted } = failure;
  const verdict = interrupted ? ('not_judged' as const) : ('bad' as const);
  return { deploy_id, version, since: at, at, verdict, reason };
}

function progressText(
  { app, version, until, sources, share, warm_bytes: warm }: WatchProgress,
  style: Style,
) {
  const name = style.bold(`${harmlessLine(app)} ${harmlessLine(version)}`);
  const left = `until ${harmlessLine(until.slice(0, 16).replace('T', ' '))} UTC`;
  const kept =
    warm === null
      ? ''
      : `, the version before is kept running${warm > 0 ? ` (${Math.ceil(warm / 1_048_576)} MiB)` : ''}`;
  const lines = sources.map(({ name: source, finding, words }) => {
    const word =
      finding === 'open'
        ? style.dim('…   ')
        : finding === 'good'
          ? style.green('good')
          : style.red('bad ');
    return `  ${word}  ${harmlessLine(source)}: ${harmlessLine(words)}\n`;
  });
  const what = share === undefined ? 'is watched' : `has ${share} % of the requests, judged`;
  return `${name} ${what} ${left}${kept}\n${lines.join('')}`;
}

function resultText(result: WatchResult, style: Style): string {
  const app = harmlessLine(result.app);
  if (result.reason !== undefined && result.verdict === null)
    return `${style.yellow('Not watched')}: ${harmlessLine(result.reason)}\n`;
  if (result.verdict === null) return `No release of '${app}' has been watched.\n`;
  const words = {
    good: style.green('Good'),
    bad: style.red('Bad'),
    not_judged: style.yellow('Not judged'),
  }[result.verdict];
  return `${words}: ${style.bold(`${app} ${harmlessLine(result.version)}`)}: ${harmlessLine(result.reason)}\n`;
}
