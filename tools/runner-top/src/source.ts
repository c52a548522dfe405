/** What the screen shows, read from files; supervisors are asked now and then, in the background. */

import { hostname } from 'node:os';
import type { View } from '@runner/common/apps/instance-summary';
import type { AppState } from '@runner/common/apps/state';
import { missingRoot } from '@runner/common/apps/store';
import type { AppSummary } from '@runner/common/apps/summary';
import { onFailure } from '@runner/common/foundation/attempt';
import type { Server } from '@runner/common/foundation/paths';
import { viewOf } from '@runner/deploy/lifecycle/view';
import { LogTails } from '@runner/history/now/log-tail';
import { RecentDeploys } from '@runner/history/now/recent';
import { newestDeployOf, type Snapshot, snapshotOf } from '@runner/history/now/snapshot';
import type { DrawnTop, TopPage } from './drawing.ts';

/** How often supervisors are asked, in milliseconds; also after an app has changed. */
const ASK_AGAIN = 15_000;
/** Lines of a log that are kept: no terminal has more. */
const LINES = 300;

/** Reads again and again. */
export class TopSource {
  readonly #server: Server;
  readonly #offline: boolean;
  readonly #tails: LogTails;
  readonly #recent: RecentDeploys;
  #view: View | undefined;
  #asked = Number.NEGATIVE_INFINITY;
  #askedOf = '';
  #isAsking = false;

  constructor(server: Server, offline: boolean) {
    this.#server = server;
    this.#offline = offline;
    const place = { paths: server.paths, env: server.io.env };
    this.#tails = new LogTails(place);
    this.#recent = new RecentDeploys(place);
  }

  /** Supervisors are asked first: what `--once` prints. */
  whole(): Promise<Snapshot> {
    return snapshotOf(this.#server.paths, (apps) => viewOf(this.#server, apps, this.#offline));
  }

  /** At once, with what supervisors said last. */
  now(): Promise<Snapshot> {
    return snapshotOf(this.#server.paths, async (apps) => {
      const { io } = this.#server;
      this.#view ??= await viewOf(this.#server, apps, true);
      const of = apps.map(({ app, updated_at }) => `${app} ${updated_at}`).join(' ');
      const isDue = io.elapsed() - this.#asked > ASK_AGAIN || of !== this.#askedOf;
      if (isDue && !this.#isAsking) this.#ask(apps, of);
      return { ...this.#view, now: io.now() };
    });
  }

  #ask(apps: readonly AppState[], of: string): void {
    this.#isAsking = true;
    this.#askedOf = of;
    // A damaged config.yml leaves what was known.
    const keep = (view: View | undefined) => {
      this.#view = view ?? this.#view;
      this.#asked = this.#server.io.elapsed();
      this.#isAsking = false;
    };
    viewOf(this.#server, apps, this.#offline).then(
      keep,
      onFailure(() => keep(undefined)),
    );
  }

  /** With what there is to say of the chosen app. */
  async drawn(now: Snapshot, page: TopPage, app: AppSummary | undefined): Promise<DrawnTop> {
    const id = app && newestDeployOf(app);
    // Without a deploy that runs, the log is for the pages of one app.
    const isWanted = page === 'app' || page === 'log' || app?.deploying;
    const log = id && isWanted && app ? await this.#tails.linesOf(app.app, id, LINES) : [];
    const running = app?.state === 'deploying' ? app.deploying?.deploy_id : undefined;
    const history = app && page === 'app' ? await this.#recent.rowsOf(app.app, running) : [];
    const message = missingRoot(this.#server.paths);
    return { server: hostname(), now, page, app, log, history, message };
  }
}
