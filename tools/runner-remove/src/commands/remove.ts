import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { type PreviewMark, previewCommand } from '@runner/common/apps/preview';
import { previewNames, requireOwnApp } from '@runner/common/apps/store';
import { type Context, command } from '@runner/common/cli/command';
import { passed } from '@runner/common/foundation/apart';
import { Failure, notProvided } from '@runner/common/foundation/failure';
import { harmlessLine } from '@runner/common/text/harmless';
import { canAsk, confirm } from '@runner/common/tokens/prompt';
import { setupApps } from '@runner/deploy/instances/setup-record';
import { type RemovedApp, removeApp, requireMayEnd } from '@runner/deploy/remove/remove';

export const remove = command({
  about: 'Remove an app and stop it',
  details:
    'Stops the app, then removes its registration with the token, its releases and its mirror. Shared\n' +
    'files are kept unless you pass --purge; the audit log is always kept. If an instance cannot be\n' +
    'stopped, the app stays registered unless you pass --force. If its stop needs an approval, stop it first.',
  positionals: { app: { required: true, about: 'Name of the app' } },
  options: {
    yes: { short: 'y', about: 'Do not ask for confirmation' },
    purge: { about: 'Also remove the shared files of the instances and the deploy logs' },
    force: {
      about:
        'Remove the app even if an instance cannot be stopped, or the code host still shows a preview',
    },
  },
  exits: [[75, 'A deploy of the app is running']],
  async run(context) {
    const { io, paths, args, options, note } = context;
    const ours = (preview: PreviewMark) => previewCommand('remove', preview);
    const state = requireOwnApp(paths, args.app, ours);
    const { app } = state;
    requireMayEnd({ io, paths }, state);
    if (!options.yes) {
      if (!canAsk(io)) throw notProvided('--yes (stdin is not a terminal)');
      confirm(io, `Remove '${app}', its token and its releases?`);
    }
    removePreviews(context, app, context.options.force);
    const value = await removeApp({ io, paths, app, note, ...options });
    // Root alone can undo it.
    if (setupApps(io.env, paths.root).includes(app))
      note(`what runner setup made for ${app} stays; to undo it: sudo runner setup ${app} --undo`);
    return { value };
  },
  human: (removed: RemovedApp, style) =>
    `Removed ${style.bold(harmlessLine(removed.app))}\n${removed.kept.map((path) => `Kept ${harmlessLine(path)}\n`).join('')}`,
});

/** Previews go before their app, whose token their code host is asked with. */
function removePreviews(
  { io, paths }: Pick<Context, 'io' | 'paths'>,
  app: string,
  isForced: boolean,
): void {
  if (previewNames(paths, app).length === 0) return;
  const args = [join(dirname(io.program), 'runner-preview'), 'disable', app, '--purge'];
  if (isForced) args.push('--force');
  const { status } = spawnSync(process.execPath, [...args, '--root', paths.root], {
    env: passed(io.env),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0)
    throw new Failure(
      'stop_failed',
      `the previews of '${app}' could not be removed: nothing else was`,
    );
}
