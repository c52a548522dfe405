import { changeApp } from '@runner/common/apps/change';
import {
  branchKey,
  type PreviewMark,
  removalOf,
  removalWords,
  type SeenPreview,
} from '@runner/common/apps/preview';
import type { AppState } from '@runner/common/apps/state';
import {
  findApp,
  listApps,
  previewNames,
  requireApp,
  requireOwnApp,
} from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { Failure, invalidValue } from '@runner/common/foundation/failure';
import type { Paths, Server } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { changeRunning } from '@runner/deploy/lifecycle/verbs';
import { deploy } from '@runner/deploy/pipeline/deploy';
import { changePreview, nameOf, type PreviewContext, show } from '../act/context.ts';
import { removePreview } from '../act/remove.ts';
import { lockPreviews, syncLocked } from '../act/sync.ts';
import { previewUrl } from '../plan/address.ts';
import { previewState } from '../plan/state.ts';
import { requirePreviewed, working } from './work.ts';

/** How long another process may work on the previews, in seconds. */
const WAIT = 30;

const positionals = {
  app: { required: true, about: 'Name of the app' },
  which: {
    required: true,
    about: 'Number of the pull request, name of the branch, or what list shows',
  },
} as const;

/** `which` as the key of a preview. Throws `usage` if it can be none. */
function keyOf(paths: Paths, { app, previews }: AppState, which: string): string {
  const number = /^(?:pr-)?([1-9]\d{0,8})$/.exec(which)?.[1];
  const isOfPulls = previews !== undefined && previews.branches === undefined;
  if (number !== undefined && previews?.branches === undefined) return `pr-${number}`;
  if (/^br-[a-z0-9-]+-[0-9a-f]{8}$/.test(which)) return which;
  const { apps } = listApps(paths, previewNames(paths, app));
  const known = apps.find(({ preview }) => preview?.branch === which)?.preview;
  if (known) return known.key;
  // One that is left from before the app's previews were of branches.
  const left = `pr-${number}`;
  if (apps.some(({ preview }) => preview?.key === left)) return left;
  if (which === '' || isOfPulls) {
    const wanted = `it is not the number of a pull request${isOfPulls ? '' : ' or the name of a branch'}`;
    throw invalidValue(which.slice(0, 80), '<WHICH>', wanted);
  }
  return branchKey(which);
}

/** What each of these commands prints. */
interface OnePreview {
  app: string;
  result: 'ready' | 'failed' | 'removed' | 'running';
  url: string | null;
}

function requirePreview(
  { paths }: Pick<Server, 'paths'>,
  name: string,
  which: string,
): PreviewMark {
  const app = requireOwnApp(paths, name);
  const [of, key] = [app.app, keyOf(paths, app, which)];
  const found = findApp(paths, nameOf({ of, key }))?.preview;
  if (found) return found;
  throw new Failure('app_not_found', `${of} has no preview ${key}; see: runner preview list ${of}`);
}

/** Notes what an operator wants of one, if it is open. */
function note({ io, paths }: Server, app: string, key: string, wish: Partial<SeenPreview>): void {
  changeApp({ io, paths, app, command: 'preview' }, (now) => {
    const { dropped: _, ...known } = now.previews?.seen?.[key] ?? { commit: '' };
    if (!now.previews || known.commit === '') return now;
    const seen = { ...now.previews.seen, [key]: { ...(known as SeenPreview), ...wish } };
    return { ...now, previews: { ...now.previews, seen } };
  });
}

async function locked<T>(context: PreviewContext, of: string, work: () => Promise<T>): Promise<T> {
  using _lock = lockPreviews(context, of, WAIT);
  return await work();
}

export const open = command({
  name: 'open',
  needsRoot: true,
  about: 'Print the address of a preview; make it if it was put off',
  details: 'It then counts as just pushed. One that failed is tried again.',
  positionals,
  examples: ['runner preview open shop 7'],
  async run(context) {
    const { paths, args } = context;
    const state = requirePreviewed(paths, args.app);
    const { app } = state;
    const key = keyOf(paths, state, args.which);
    const name = nameOf({ of: app, key });
    const value = await working(context, 'manual', (previews) =>
      locked(previews, app, async (): Promise<OnePreview> => {
        const before = findApp(paths, name)?.preview;
        if (before?.outcome !== 'ready' || before.removed_why !== undefined) {
          if (before?.outcome === 'failed')
            changePreview(previews, name, ({ outcome: _, ...now }) => ({ ...now, tries: 0 }));
          await syncFor(previews, app, key);
        }
        const { outcome } = requirePreview(context, app, key);
        const known = requireApp(paths, name);
        const runs = previewState(paths, known);
        if (runs === 'down' || runs === 'stopped')
          throw new Failure('not_ready', `${name} is ${runs}: run runner start ${name}`);
        const url = previewUrl(known);
        return { app: name, result: outcome ?? 'failed', url };
      }),
    );
    return { value, status: value.result === 'ready' ? 0 : 1 };
  },
  human: ({ app, url, result }: OnePreview) => {
    const words = harmlessLine(url ?? `${app} was built, and serves nothing`);
    return result === 'ready' ? `${words}\n` : `${words} (${result})\n`;
  },
});

/** Looks at the host, before and after the wish is noted: only what is open can be wished for. */
async function syncFor(context: PreviewContext, app: string, key: string): Promise<void> {
  const isSeen = () => requireApp(context.paths, app).previews?.seen?.[key] !== undefined;
  if (!isSeen()) await syncLocked(context, app);
  note(context, app, key, { opened: context.io.now().toISOString() });
  const { waiting, problems } = await syncLocked(context, app);
  const mark = findApp(context.paths, nameOf({ of: app, key }))?.preview;
  const isGone = mark !== undefined && removalOf({ preview: mark }) !== undefined;
  if (mark?.outcome && !isGone) return;
  const gone = isGone ? `it ${removalWords(mark)}` : undefined;
  const why = waiting.find((each) => each.key === key)?.why ?? gone ?? problems[0];
  throw new Failure('not_ready', `${key} has no preview: ${why ?? 'it is not open'}`);
}

export const remove = command({
  name: 'remove',
  needsRoot: true,
  about: 'Remove a preview until the next push',
  details: 'Its files stay for 48 hours: runner preview undo brings it back.',
  positionals,
  examples: ['runner preview remove shop 7'],
  async run(context) {
    const { args } = context;
    const preview = requirePreview(context, args.app, args.which);
    const { of, key, domain } = preview;
    const name = nameOf(preview);
    await working(context, 'manual', (previews) =>
      locked(previews, of, async () => {
        note(context, of, key, { dropped: true });
        // Another command may have removed it, or brought it back, before this one had the lock.
        if (removalOf(requireApp(context.paths, name)) !== 'removed')
          await removePreview(previews, name, 'by an operator');
      }),
    );
    return {
      value: { app: name, result: 'removed', url: `https://${domain}` } satisfies OnePreview,
    };
  },
  human: ({ app }: OnePreview) => `Removed ${harmlessLine(app)}\n`,
});

export const undo = command({
  name: 'undo',
  needsRoot: true,
  about: 'Bring a removed preview back',
  details: 'Within 48 hours of its removal. It then stays as long as after a push.',
  positionals,
  examples: ['runner preview undo shop 7'],
  async run(context) {
    const { io, paths, args } = context;
    requirePreviewed(paths, args.app);
    const preview = requirePreview(context, args.app, args.which);
    const { of, key, domain } = preview;
    const name = nameOf(preview);
    const { outcome, undone_at: begun } = preview;
    const isKilled = begun !== undefined && outcome === undefined;
    if (!removalOf({ preview }) && !isKilled)
      throw new Failure('not_ready', `${name} is not removed`);
    await working(context, 'manual', (previews) =>
      locked(previews, of, async () => {
        const at = io.now().toISOString();
        note(context, of, key, { opened: at });
        // Without an outcome: after a kill it is removed again.
        changePreview(previews, name, (now) => {
          const { removed_at: _, removed_why: __, left: ___, outcome: ____, ...rest } = now;
          return { ...rest, undone_at: at };
        });
        await bringBack(previews, name).catch((error: unknown) => {
          const { removed_why = '' } = preview;
          changePreview(previews, name, ({ undone_at: _, ...now }) => ({ ...now, removed_why }));
          throw error;
        });
        changePreview(previews, name, (now) => ({ ...now, outcome: 'ready' }));
        await show(previews, name);
        // The oldest gives way.
        await syncLocked(previews, of);
      }),
    );
    return {
      value: { app: name, result: 'running', url: `https://${domain}` } satisfies OnePreview,
    };
  },
  human: ({ app, url }: OnePreview) => `${harmlessLine(app)} is back: ${harmlessLine(url ?? '')}\n`,
});

/** Deploys its commit again, which makes its database too; if the host has it no more, starts what was kept. */
async function bringBack(context: PreviewContext, app: string): Promise<void> {
  const { io, paths, reporter, signal, next, trigger } = context;
  const request = { io, paths, app, reporter, signal, next };
  try {
    const { result, error } = await deploy({ ...request, trigger, notify: false });
    if (result !== 'deployed') throw new Failure('not_ready', `${app}: ${error}`);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'ref_not_found') throw error;
    const { result, instances } = await changeRunning({ ...request, instance: undefined }, 'start');
    if (result === 'failed') throw new Failure('not_ready', `${app}: ${instances[0]?.error}`);
  }
}
