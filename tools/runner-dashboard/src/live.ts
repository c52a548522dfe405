/** What all viewers see: read once a second for all of them, while there are any. */
import type { ServerResponse } from 'node:http';
import { missingRoot } from '@runner/common/apps/store';
import type { AppSummary } from '@runner/common/apps/summary';
import { viewersView } from '@runner/common/apps/viewed';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { RecordCleaner } from '@runner/common/redaction/redact';
import { LogTails } from '@runner/history/now/log-tail';
import { RecentDeploys } from '@runner/history/now/recent';
import { newestDeployOf, type Snapshot, snapshotOf } from '@runner/history/now/snapshot';
import { type AppPart, appParts, overviewParts, type Parts, pageOf, summaryPart } from './page.ts';

/** How often files are read, in milliseconds, and how old what was read may be: what happens is seen within a second. */
const [TICK, AGE] = [900, 90];
/** A comment keeps proxies from closing a stream on which nothing happens, in milliseconds. */
const ALIVE = 30_000;
/** A viewer who does not read is let go, in bytes that wait. */
const WAITING_MAX = 1_048_576;
/** Lines of a log. */
const LINES = { overview: 8, app: 40 } as const;
/** Running deploys whose logs are on the overview. */
const RUNNING = 4;

/** One address that is looked at. */
interface Watched {
  readonly viewers: Set<ServerResponse>;
  shown: Parts;
}

const event = (data: unknown, name = '') =>
  `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

interface SeenSnapshot extends Snapshot {
  /** No app could be read; `unreadable` has the reason. */
  readonly isNone?: boolean;
}

/** Draws pages, and sends what changes on them. */
export class Live {
  readonly #server: Server;
  readonly #tails: LogTails;
  readonly #recent: RecentDeploys;
  readonly #cleaner: RecordCleaner;
  /** By app; `''` is the overview. */
  readonly #watched = new Map<string, Watched>();
  /** Redacted summaries, by what they were made of. */
  #clean = new Map<string, AppSummary>();
  #read: Promise<SeenSnapshot> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #alive = 0;

  constructor(server: Server) {
    const place = { paths: server.paths, env: server.io.env };
    this.#server = server;
    this.#tails = new LogTails(place);
    this.#recent = new RecentDeploys(place);
    this.#cleaner = new RecordCleaner(place);
  }

  /** A whole page, also of an app that cannot be read; undefined for one that is not registered. */
  async page(app = ''): Promise<string | undefined> {
    const parts = await this.#parts(app);
    return parts && pageOf(app, parts);
  }

  /** Sends what changes, until the viewer leaves. */
  watch(app = '', response: ServerResponse): void {
    const watched = this.#watched.get(app) ?? { viewers: new Set(), shown: new Map() };
    this.#watched.set(app, watched);
    watched.viewers.add(response);
    response.write('retry: 2000\n\n');
    // The page may be older than its stream.
    void this.#send(app, watched, [response]);
    response.once('close', () => {
      watched.viewers.delete(response);
      if (watched.viewers.size === 0) this.#watched.delete(app);
      if (this.#watched.size === 0) this.close();
    });
    this.#timer ??= setInterval(() => void this.#tick(), TICK);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    const isLong = this.#server.io.elapsed() - this.#alive > ALIVE;
    if (isLong) this.#alive = this.#server.io.elapsed();
    for (const [app, watched] of this.#watched) {
      await this.#send(app, watched, []);
      for (const viewer of watched.viewers) {
        if (viewer.writableLength > WAITING_MAX) viewer.destroy();
        else if (isLong) viewer.write(':\n\n');
      }
    }
  }

  /** The parts that have changed to all viewers of an address, all parts to those who are `fresh`. */
  async #send(app: string, watched: Watched, fresh: readonly ServerResponse[]): Promise<void> {
    const parts = (await this.#parts(app).catch(() => undefined)) ?? new Map<string, string>();
    const { shown, viewers } = watched;
    watched.shown = parts;
    const isSame = [...shown.keys()].join() === [...parts.keys()].join();
    const changed = [...parts].filter(([id, html]) => shown.get(id) !== html);
    // Another app, or one less: the page is read again.
    const news = isSame ? event(Object.fromEntries(changed)) : event(null, 'reload');
    if (!isSame || changed.length > 0)
      for (const viewer of viewers)
        if (!fresh.includes(viewer) && shown.size > 0) viewer.write(news);
    if (fresh.length === 0) return;
    const all = event(Object.fromEntries(parts));
    for (const viewer of fresh) viewer.write(all);
  }

  async #parts(app: string): Promise<Parts | undefined> {
    const now = await this.#snapshot();
    if (app === '') return overviewParts(now, await this.#running(now));
    const found = now.apps.find((each) => each.app === app);
    if (found) return appParts(await this.#partOf(found, LINES.app), await this.#history(found));
    const unreadable = now.unreadable.filter((name) => now.isNone || name === app);
    return unreadable.length > 0 ? new Map([summaryPart(unreadable)]) : undefined;
  }

  async #running({ apps }: Snapshot): Promise<AppPart[]> {
    const parts: AppPart[] = [];
    for (const app of apps.filter(({ state }) => state === 'deploying').slice(0, RUNNING))
      parts.push(await this.#partOf(app, LINES.overview));
    return parts;
  }

  async #partOf(app: AppSummary, lines: number): Promise<AppPart> {
    const id = newestDeployOf(app);
    return {
      app,
      log: id ? (await this.#tails.linesOf(app.app, id, LINES.app)).slice(-lines) : [],
    };
  }

  #history(app: AppSummary) {
    const running = app.state === 'deploying' ? app.deploying?.deploy_id : undefined;
    return this.#recent.rowsOf(app.app, running);
  }

  /** Read once for all who look at about the same time. */
  #snapshot(): Promise<SeenSnapshot> {
    const { io } = this.#server;
    if (this.#read && io.elapsed() - this.#readAt < AGE) return this.#read;
    this.#readAt = io.elapsed();
    this.#read = this.#readAll();
    return this.#read;
  }

  async #readAll(): Promise<SeenSnapshot> {
    const { io, paths } = this.#server;
    try {
      const missing = missingRoot(paths);
      if (missing) throw new Failure('file_unreadable', missing);
      const now = await snapshotOf(paths, (apps) => viewersView(apps, io.now()));
      const clean = new Map<string, AppSummary>();
      for (const app of now.apps) {
        const text = JSON.stringify(app);
        const known = this.#clean.get(text);
        const made = known ?? (await this.#cleaner.clean({ ...app, project: app.app }));
        clean.set(text, made as unknown as AppSummary);
      }
      this.#clean = clean;
      return { ...now, apps: [...clean.values()] };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const unreadable = [`${error.message} (${error.code})`];
      return { apps: [], unreadable, isNone: true, queue: null };
    }
  }
}
