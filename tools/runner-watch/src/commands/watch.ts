import type { WatchEnd } from '@runner/common/apps/state';
import { requireApp } from '@runner/common/apps/store';
import { type Context, command } from '@runner/common/cli/command';
import type { Style } from '@runner/common/cli/output';
import { EXIT } from '@runner/common/foundation/failure';
import { poll } from '@runner/common/foundation/poll';
import { harmlessLine } from '@runner/common/text/harmless';
import { interruptionOf } from '@runner/deploy/report/interruption';
import { progressFor } from '@runner/deploy/report/progress';
import { carryWatch } from '@runner/deploy/watch/carry';
import { readProgress, type WatchProgress } from '@runner/deploy/watch/progress';
import { PROXIES, type SharingProxy, snippetFor } from '../snippets.ts';

/** The last object of `runner watch --json`: how the newest watch of an app ended. */
type WatchResult = { readonly app: string } & (WatchEnd | { readonly verdict: null });

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
    [NOT_JUDGED, 'It could not be judged: too little to see, or the watch was ended early'],
  ],
  examples: ['runner watch shop', 'runner watch shop --json', 'runner watch shop --proxy nginx'],
  async run(context) {
    const { paths, args, options } = context;
    if (options.proxy !== undefined) {
      const { instances } = requireApp(paths, args.app);
      const known = Object.keys(instances);
      const slotted = known.filter((name) => instances[name]?.slots);
      // It may be printed before the first deploy with traffic.
      const names = slotted.length > 0 ? slotted : known.length > 0 ? known : ['default'];
      const proxy = options.proxy as SharingProxy;
      return { value: { proxy, text: snippetFor(paths, args.app, names, proxy) } };
    }
    if (options.carry) await carry(context);
    else {
      const status = await show(context);
      if (status !== EXIT.ok) return { status };
    }
    const { watched } = requireApp(paths, args.app);
    const value: WatchResult = { app: args.app, ...(watched ?? { verdict: null }) };
    return { value, status: STATUS[value.verdict ?? 'good'] };
  },
  human: (value: WatchProgress | WatchResult | Snippet, style) =>
    'proxy' in value
      ? value.text
      : 'sources' in value
        ? progressText(value, style)
        : resultText(value, style),
});

/** What is printed again only if it changes: not each count. */
function keyOf({ sources, warm_bytes: warm }: WatchProgress): string {
  return JSON.stringify([sources.map(({ name, finding }) => [name, finding]), warm === null]);
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

/** Prints what changes until the watch ends. Returns the exit status. */
function show({ io, paths, args: { app }, print }: WatchContext): Promise<number> {
  let shown = '';
  return poll(io, async () => {
    const { watch: current } = requireApp(paths, app);
    if (!current) return 'end';
    const progress = readProgress(paths, app, current.deploy_id);
    const key = progress ? keyOf(progress) : '';
    if (progress && key !== shown) await print(progress);
    shown = key;
    return 'wait';
  });
}

function progressText(
  { app, version, until, sources, warm_bytes: warm }: WatchProgress,
  style: Style,
) {
  const name = style.bold(`${harmlessLine(app)} ${harmlessLine(version)}`);
  const left = `until ${harmlessLine(until.slice(0, 16).replace('T', ' '))} UTC`;
  const kept =
    warm === null
      ? ''
      : `, the version before is kept running (${Math.ceil(warm / 1_048_576)} MiB)`;
  const lines = sources.map(({ name: source, finding, words }) => {
    const word =
      finding === 'open'
        ? style.dim('…   ')
        : finding === 'good'
          ? style.green('good')
          : style.red('bad ');
    return `  ${word}  ${harmlessLine(source)}: ${harmlessLine(words)}\n`;
  });
  return `${name} is watched ${left}${kept}\n${lines.join('')}`;
}

function resultText(result: WatchResult, style: Style): string {
  const app = harmlessLine(result.app);
  if (result.verdict === null) return `No release of '${app}' has been watched.\n`;
  const words = {
    good: style.green('Good'),
    bad: style.red('Bad'),
    not_judged: style.yellow('Not judged'),
  }[result.verdict];
  return `${words}: ${style.bold(`${app} ${harmlessLine(result.version)}`)}: ${harmlessLine(result.reason)}\n`;
}
