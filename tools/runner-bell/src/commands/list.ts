import { command } from '@runner/common/cli/command';
import { table } from '@runner/common/cli/output';
import { appsWithBell, bellOf, DIR, folderOf, lastRung, type Signer } from '../folder.ts';

interface BellListing {
  bells: { app: string; host: Signer; added: string; last_call: string | null }[];
}

export const list = command({
  name: 'list',
  about: 'List the apps that have a bell, and when their last call came',
  options: { dir: DIR },
  async run({ io, options }) {
    const folder = folderOf(options.dir, io.env);
    const value: BellListing = { bells: [] };
    for (const app of appsWithBell(folder)) {
      const bell = bellOf(folder, app);
      if (bell)
        value.bells.push({
          app,
          host: bell.type,
          added: bell.added,
          last_call: lastRung(folder, app),
        });
    }
    return { value };
  },
  human({ bells }: BellListing, style, { io }) {
    if (bells.length === 0) return 'No app has a bell. Add one with: runner bell add <app>\n';
    const time = (text: string | null) => text?.slice(0, 16).replace('T', ' ') ?? 'never';
    const rows = bells.map((each) => [each.app, each.host, time(each.added), time(each.last_call)]);
    const heading = ['APP', 'HOST', 'ADDED (UTC)', 'LAST CALL'];
    return table(heading, rows, style, io);
  },
});
