/** Whether a kept version works with the database as it is now, and the commands that bring it back. */

import type { Migration, SchemaWay } from '@runner/common/apps/database';
import type { Deployed } from '@runner/common/apps/deployed';
import { migrationsOn } from '@runner/common/apps/migrations-on';
import { orderOf } from '@runner/common/apps/order';
import { restoreLine } from '@runner/common/apps/schema-way';
import type { AppState } from '@runner/common/apps/state';
import { versionArgument } from '@runner/common/apps/versions';
import { isThere } from '@runner/common/files/read';
import type { Paths } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';

/** The app, and where its backups are. */
export interface MigratedApp {
  readonly paths: Paths;
  readonly app: AppState;
}

/** What a version meets in the database. */
export interface WayBack {
  readonly verdict: SchemaWay;
  /** A sentence about the version, which `reasons` explain. */
  readonly words: string;
  /** The same with them. */
  readonly said: string;
  readonly reasons: readonly string[];
  /** The command after which it works, and what that does; null: no one knows one. */
  readonly fix: { readonly does: string; readonly command: string } | null;
}

/** The same, to what runs now; undefined before the first deploy. */
export function lineToNow(app: AppState, id: string): string | undefined {
  const all = Object.values(app.instances).flatMap(({ current }) => current ?? []);
  const [now] = all;
  return now && restoreLine(app, versionArgument(now, all), id);
}

/** undefined: no migration is between the version and the database. */
export function wayBackTo(
  own: MigratedApp,
  to: Deployed,
  all: readonly Migration[] = migrationsOn(own),
): WayBack | undefined {
  const { version, commit } = to;
  const lost = lackedBy(all, to);
  if (lost) {
    const words = `${version} needs the migration of ${lost.version}, which a restore of the database took away`;
    const command = `runner deploy ${word(own.app.app)} --ref ${word(commit)}`;
    return {
      verdict: 'broken',
      words,
      said: words,
      reasons: [],
      fix: { does: 'to migrate once more', command },
    };
  }
  const crossed = crossedBy(all, to);
  const verdict = worstOf(crossed);
  if (verdict === undefined) return undefined;
  const worst = crossed.filter((each) => each.verdict === verdict);
  const since = worst.map((each) => each.version).join(', ');
  const command = restoreOf(own, crossed, version);
  const words = WORDS[verdict](version, since);
  const reasons = verdict === 'proven' ? [] : worst.flatMap((each) => each.reasons);
  return {
    verdict,
    words,
    said: [words, reasons.slice(0, SAID).join('; ')].filter(Boolean).join(': '),
    reasons,
    fix: command === undefined ? null : { does: 'to restore what was before', command },
  };
}

const SAID = 5;

/** That what is active does not work with the database, and the way to restore it; undefined: it does, or no one knows. */
export function unfitWords(own: MigratedApp): string | undefined {
  const ways = Object.values(own.app.instances).map(
    ({ current }) => current && wayBackTo(own, current),
  );
  const way = ways.find((each) => each?.verdict === 'broken');
  if (!way) return undefined;
  const { said, fix } = way;
  return `${said}${fix === null ? '' : `; ${fix.does}: ${fix.command}`}`;
}

const WORDS: Readonly<Record<SchemaWay, (version: string, since: string) => string>> = {
  proven: (version, since) =>
    `the database stays as ${since} has made it, on a copy of which ${version} was tried`,
  additive: (version, since) =>
    `the database stays as ${since} has made it, which ${version} works with`,
  broken: (version, since) =>
    `${version} does not work with the database that ${since} has changed`,
  unknown: (version, since) =>
    `whether ${version} works with the database that ${since} has changed is not known`,
};

/** The migrations since a version was deployed, the newest first, and what each means for it. */
function crossedBy(all: readonly Migration[], to: Deployed): Migration[] {
  return all
    .filter((each) => !each.gone && orderOf(each) > orderOf(to))
    .map((each) =>
      each.tried === to.commit ? each : { ...each, verdict: each.otherwise ?? each.verdict },
    )
    .reverse();
}

/** A migration that was in when the version was deployed. */
function lackedBy(all: readonly Migration[], to: Deployed): Migration | undefined {
  const place = orderOf(to);
  return all.find((each) => {
    const { gone, gone_order: end = Date.parse(gone ?? '') } = each;
    return gone !== undefined && orderOf(each) <= place && place < end;
  });
}

/** The way to the database as it was before the oldest of them. */
function restoreOf(
  { paths, app }: MigratedApp,
  crossed: readonly Migration[],
  version: string,
): string | undefined {
  const oldest = crossed.at(-1);
  const isKept = oldest && isThere(paths.app(app.app).databaseBackup(oldest.deploy_id));
  return isKept ? restoreLine(app, version, oldest.deploy_id) : oldest?.restore;
}

function worstOf(crossed: readonly Migration[]): SchemaWay | undefined {
  const found = new Set(crossed.map(({ verdict }) => verdict));
  return (['broken', 'unknown', 'additive', 'proven'] as const).find((way) => found.has(way));
}
