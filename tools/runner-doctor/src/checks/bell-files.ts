/** Whether the bell's secrets and folders have the right owner and mode. */

import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { type Findings, problem } from '../foundation/finding.ts';
import { runFor } from '../foundation/program.ts';

const USER = 'runner-bell';

/** The owner, group and mode (octal digits) that a file or folder must have. */
interface RequiredMode {
  readonly path: string;
  readonly mode: '0640' | '2750' | '2770';
  readonly owner: string;
  readonly group: string;
  readonly why: string;
}

/** The bell's user reads the secrets and writes into `wake`; runner writes the secrets and empties `wake`. */
export async function bellFiles(
  { io, paths }: Server,
  dir: string,
  apps: readonly string[],
): Promise<Findings> {
  const ids = await runFor(io, 'id', ['-u', USER]);
  const groups = await runFor(io, 'id', ['-g', USER]);
  const root = statSync(paths.root);
  const hasUser = ids?.status === 0 && groups?.status === 0;
  const [uid, gid] = hasUser ? [ids.stdout.trim(), groups.stdout.trim()] : [];
  const ours = { owner: `${root.uid}`, group: gid ?? `${root.gid}` };
  const its = { owner: uid ?? `${root.uid}`, group: `${root.gid}` };
  const secret = 'only runner and the bell may read the secrets';
  const wanted: RequiredMode[] = [
    { path: join(dir, 'secrets'), mode: '2750', ...ours, why: secret },
    ...apps.map((app) => ({
      path: join(dir, 'secrets', `${app}.json`),
      mode: '0640' as const,
      ...ours,
      why: secret,
    })),
    ...['wake', 'last'].map((name) => ({
      path: join(dir, name),
      mode: '2770' as const,
      ...its,
      why: 'both the bell and runner write there',
    })),
  ];
  const isClosed = hasUser && (statSync(dir).mode & 0o001) === 0;
  const closed = problem(`${dir} is closed to the user ${USER}`, `chmod 755 ${word(dir)}`);
  return [...(isClosed ? [closed] : []), ...wanted.flatMap((each) => fileFindings(each, hasUser))];
}

/** Without the bell's user, as in a container, only checks that others have no access. */
function fileFindings({ path, mode, owner, group, why }: RequiredMode, hasUser: boolean): Findings {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  const make = mode === '0640' ? '' : `mkdir -p ${word(path)} && `;
  const fix = `${make}chown ${owner}:${group} ${word(path)} && chmod ${mode} ${word(path)}`;
  if (!stats) return problem(`${path} is missing: ${why}`, fix);
  const has = stats.mode & 0o777;
  const wants = Number.parseInt(mode, 8) & 0o777;
  // Root may own what runner writes: the group decides whether the bell can read it.
  const isOwned = `${stats.gid}` === group && (mode !== '2770' || `${stats.uid}` === owner);
  const isTooOpen = (has & 0o007) !== 0 || (mode !== '2770' && (has & 0o020) !== 0);
  const isTooClosed = (has & wants) !== wants;
  if (isTooOpen || (hasUser && (!isOwned || isTooClosed)))
    return problem(`${path} has the wrong owner or mode: ${why}`, fix);
  return [];
}
