import {
  type PreviewSettings,
  uncheckedWords,
  type WaitingPreview,
} from '@runner/common/apps/preview';
import {
  appNames,
  findApp,
  listApps,
  previewNames,
  requireOwnApp,
} from '@runner/common/apps/store';
import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { unlessFailure } from '@runner/common/foundation/attempt';
import type { Paths } from '@runner/common/foundation/paths';
import { harmlessLine } from '@runner/common/text/harmless';
import { previewUrl } from '../plan/address.ts';
import { type PreviewState, previewState } from '../plan/state.ts';

/** A preview, as `--json` prints it. */
interface ListedPreview {
  app: string;
  key: string;
  state: PreviewState;
  url: string | null;
  branch: string;
  commit: string;
  pushed_at: string;
  /** Who let the commit of a fork in. */
  allowed_by: string | null;
  error: string | null;
  removed_at: string | null;
  /** Why it was or is being removed, and what could not be. */
  removed_why: string | null;
  left: string | null;
  /** What the token may not write at the host. */
  unshown: string | null;
}

/** An app that has or had previews. */
type PreviewListing = ReturnType<typeof listing>;

export const list = command({
  name: 'list',
  about: 'List the previews of an app, or of all, and what waits',
  details:
    'States: building, updating, ready, asleep (the next request wakes it), down (its process has ended: runner\n' +
    'start), stopped, failed, removing (what is left, each fetch tries again), removed (its files stay for 48 hours).',
  positionals: { app: { about: 'Name of the app [default: all]' } },
  safeInForeignRoot: true,
  async run({ paths, args }) {
    const names = args.app === undefined ? appNames(paths) : [requireOwnApp(paths, args.app).app];
    const apps = names.map((name) => listing(paths, name));
    const shown = apps.filter(
      (each) => each.settings || each.previews.length > 0 || each.unreadable.length > 0,
    );
    return { value: { apps: shown } };
  },
  human({ apps }: { apps: PreviewListing[] }, style, { io }) {
    if (apps.length === 0) return 'No previews. Make some with: runner preview enable <app>\n';
    const rows = apps.flatMap(({ app, previews, waiting }) => {
      const whyNot = (of: string) => waiting.find(({ key }) => key === of)?.why;
      const isThere = (of: string) => previews.some(({ key }) => key === of);
      const whyOf = ({ key, left, error, removed_why: why, unshown }: ListedPreview) =>
        left ?? whyNot(key) ?? error ?? why ?? unshown ?? '';
      return [
        ...previews.map((each) => [app, each.key, each.state, each.url ?? '-', whyOf(each)]),
        ...waiting.flatMap(({ key, why }) =>
          isThere(key) ? [] : [[app, key, 'waiting', '', why]],
        ),
      ];
    });
    const heading = ['APP', 'PREVIEW', 'STATE', 'ADDRESS', 'WHY'];
    const first = (text: string) => text.split('\n')[0] ?? '';
    const shown = rows.map((row) => row.map(first));
    const unasked = apps.flatMap(({ app, check_failed: failed, unreadable }) => [
      ...(failed ? [`${app}: ${uncheckedWords(failed)}`] : []),
      ...unreadable.map((each) => `${each.app}: ${each.error}`),
    ]);
    return (
      table(heading, shown, style, io) + unasked.map((line) => `${harmlessLine(line)}\n`).join('')
    );
  },
});

function listing(paths: Paths, name: string) {
  const {
    seen: _,
    waiting = [],
    check_failed = null,
    ...settings
  } = unlessFailure(() => findApp(paths, name)?.previews, undefined) ?? {};
  const { apps, unreadable } = listApps(paths, previewNames(paths, name));
  const previews = apps.flatMap((app): ListedPreview[] => {
    const { preview, app: each } = app;
    if (!preview) return [];
    const { key, branch, commit, pushed_at } = preview;
    return [
      {
        app: each,
        key,
        state: previewState(paths, app),
        url: previewUrl(app),
        branch,
        commit,
        pushed_at,
        allowed_by: preview.allowed_by ?? null,
        error: preview.error ?? null,
        removed_at: preview.removed_at ?? null,
        removed_why: preview.removed_why ?? null,
        left: preview.left ?? null,
        unshown: preview.unshown ?? null,
      },
    ];
  });
  const known =
    'domain' in settings
      ? (settings as Omit<PreviewSettings, 'seen' | 'waiting' | 'check_failed'>)
      : null;
  // One that is there waits for nothing, whatever the last look said.
  const isListed = ({ key }: WaitingPreview) =>
    previews.some((each) => each.key === key && each.state !== 'removed');
  return {
    app: name,
    settings: known,
    /** Since when and why the code host cannot be asked. */
    check_failed,
    previews,
    waiting: waiting.filter((each) => !isListed(each)),
    /** Whose state cannot be read, and why. */
    unreadable: unreadable.map(({ app, failure }) => ({ app, error: failure.message })),
  };
}
