import type { AppSummary, InstanceSummary } from '@runner/common/apps/summary';
import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { harmlessLine } from '@runner/common/text/harmless';
import type { Listing } from '../listing.ts';

/** An instance that runs is not `down` because another one of its app is. */
function stateOf({ state }: AppSummary, instance: InstanceSummary | undefined): string {
  const fine = instance?.current && instance.running !== false && !instance.broken;
  return fine && (state === 'down' || state === 'broken') ? 'ok' : state;
}

export const list = command({
  name: '',
  about: 'Show the registered apps and what runs',
  details:
    'States: ok, new (never deployed), failing, blocked (the same commit failed too often), held\n' +
    '(rolled back by hand), down (a process has ended), broken (the version before did not start\n' +
    'either), deploying, interrupted (the deploy died). An app that cannot be read is named on stderr;\n' +
    'the status is then 1.',
  async run(context) {
    const { listing } = await import('../listing.ts');
    const { value, unreadable } = await listing(context.paths);
    for (const { failure } of unreadable) context.note(`${failure.message} (${failure.code})`);
    return { value, status: unreadable.length > 0 ? 1 : 0 };
  },
  human({ apps, unreadable }: Listing, style, { io }) {
    if (apps.length + unreadable.length === 0)
      return 'No apps yet. Register one with: runner add --repo <owner/name> --branch <branch>\n';
    const rows = apps.flatMap((app) => {
      const instances = app.instances.length > 0 ? app.instances : [undefined];
      return instances.map((instance) => [
        app.app,
        instance?.instance ?? '-',
        instance?.current?.version ?? '-',
        instance?.active_since?.slice(0, 16).replace('T', ' ') ?? '-',
        stateOf(app, instance),
        `${app.repo}#${app.branch}`,
      ]);
    });
    const heading = ['APP', 'INSTANCE', 'VERSION', 'SINCE (UTC)', 'STATE', 'SOURCE'];
    return table(
      heading,
      rows.map((row) => row.map(harmlessLine)),
      style,
      io.stdout.isTTY ? io.stdout.columns : undefined,
    );
  },
});
