/** The screen from its first line until the user quits: keys, ticks, and commands that are run. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { AppSummary } from '@runner/common/apps/summary';
import type { Style } from '@runner/common/cli/output';
import { Failure, signalStatus } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { word } from '@runner/common/text/shell';
import { earlierThan } from '@runner/deploy/rollback/plan';
import type { Snapshot } from '@runner/history/now/snapshot';
import { screenOf, type TopPage } from './drawing.ts';
import { TopScreen } from './screen.ts';
import type { TopSource } from './source.ts';

/** How often files are read, in milliseconds: what happens is seen within a second. */
export const TICK = 900;

/** The commands by their keys, and what is asked first; undefined: there is nowhere to roll back to. */
const COMMANDS: Readonly<
  Record<string, (app: AppSummary) => [verb: string, question: string | undefined]>
> = {
  d: ({ app }) => ['deploy', `Deploy the newest commit of ${app}`],
  r: ({ app }) => ['restart', `Restart ${app}`],
  b: ({ app, instances }) => {
    const broken = instances.filter((each) => each.broken).map(({ current }) => current);
    const goals = broken.length > 0 ? broken : instances.map((each) => earlierThan(each));
    const names = [...new Set(goals.flatMap((goal) => goal?.version ?? []))];
    return ['rollback', names.length > 0 ? `Roll ${app} back to ${names.join(', ')}` : undefined];
  },
};

/** Keys that move, by how many apps. */
const MOVES: Readonly<Record<string, number>> = {
  '\x1b[A': -1,
  '\x1bOA': -1,
  k: -1,
  '\x1b[B': 1,
  '\x1bOB': 1,
  j: 1,
  '\x1b[5~': -10,
  '\x1b[6~': 10,
  '\x1b[H': -1e9,
  '\x1b[1~': -1e9,
  '\x1b[F': 1e9,
  '\x1b[4~': 1e9,
};
/** Keys that open a page; the same key again goes back. */
const PAGES: Readonly<Record<string, TopPage>> = { '\r': 'app', l: 'log', '?': 'help', h: 'help' };
const BACK = ['\x1b', '\x7f', '\b', '\x1b[D'];
const CTRL_C = '\x03';

/** One user in front of one terminal. */
export class TopSession {
  readonly #server: Server;
  readonly #source: TopSource;
  readonly #style: Style;
  readonly #screen: TopScreen;
  #now: Snapshot;
  #page: TopPage = 'apps';
  #chosen: string | undefined;
  /** A question. */
  #message: string | undefined;
  /** Why files could not be read just now. */
  #trouble: string | undefined;
  /** What `y` runs. */
  #asked: (() => Promise<void>) | undefined;
  /** A command is on the terminal; gets the signal or the key that comes then. */
  #child: ((event: NodeJS.Signals | 'key') => void) | undefined;
  #turn = 0;
  #end: (status: number) => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(server: Server, source: TopSource, style: Style, now: Snapshot) {
    this.#server = server;
    this.#source = source;
    this.#style = style;
    this.#now = now;
    this.#screen = new TopScreen(server.io, (key) => this.#typed(key));
  }

  /** Resolves the exit status. */
  async run(): Promise<number> {
    const { io } = this.#server;
    const ended = new Promise<number>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    const remove = io.onSignal((signal) => {
      if (this.#child) this.#child(signal);
      else this.#end(signalStatus(signal));
    });
    const resized = io.onSignal(() => void this.#draw(), ['SIGWINCH']);
    const ticks = setInterval(() => void this.#tick(), TICK);
    try {
      this.#screen.enter();
      await this.#draw();
      return await ended;
    } finally {
      clearInterval(ticks);
      remove();
      resized();
      this.#screen.close();
    }
  }

  async #tick(): Promise<void> {
    if (this.#child) return;
    if (this.#server.io.stdout.closed) return void this.#end(0);
    try {
      this.#now = await this.#source.now();
      this.#trouble = undefined;
    } catch (error) {
      if (!(error instanceof Failure)) return void this.#fail(error);
      this.#trouble = `${error.message} (${error.code})`;
    }
    await this.#draw();
  }

  get #app(): AppSummary | undefined {
    const { apps } = this.#now;
    const chosen = apps.find(({ app }) => app === this.#chosen);
    return chosen ?? apps.find(({ state }) => state === 'deploying') ?? apps[0];
  }

  async #draw(): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    try {
      const drawn = await this.#source.drawn(this.#now, this.#page, this.#app);
      // Another key was typed meanwhile.
      if (turn !== this.#turn) return;
      const { columns, rows } = this.#server.io.stdout;
      const area = { columns, rows, style: this.#style };
      this.#screen.draw(
        screenOf({ ...drawn, message: this.#message ?? this.#trouble ?? drawn.message }, area),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  #typed(key: string | undefined): void {
    if (key === undefined) return void this.#end(0);
    if (this.#child) return void this.#child('key');
    const asked = this.#asked;
    this.#asked = undefined;
    this.#message = undefined;
    if (key === CTRL_C) return void this.#end(signalStatus('SIGINT'));
    if (asked && (key === 'y' || key === 'Y')) return void asked();
    if (!asked) this.#handle(key);
    void this.#draw();
  }

  #handle(key: string): void {
    const move = MOVES[key];
    const page = PAGES[key];
    const app = this.#app;
    if (key === 'q') this.#end(0);
    else if (BACK.includes(key)) this.#page = 'apps';
    else if (page) this.#page = this.#page === page ? 'apps' : page;
    else if (move !== undefined) this.#move(move);
    else if (app && COMMANDS[key]) {
      const [verb, question] = COMMANDS[key](app);
      this.#message = question
        ? `${question}? y = yes, any other key = no`
        : `${app.app} has no earlier version to roll back to`;
      if (!question) return;
      this.#asked = () => this.#command(verb, app.app).catch((error) => this.#fail(error));
    }
  }

  #move(by: number): void {
    const { apps } = this.#now;
    const at = apps.findIndex(({ app }) => app === this.#app?.app) + by;
    this.#chosen = apps[Math.max(0, Math.min(at, apps.length - 1))]?.app;
  }

  /** Runs `runner <verb> <app>` on this terminal; the screen comes back at a key. */
  async #command(verb: string, app: string): Promise<void> {
    const { io, paths } = this.#server;
    const program = join(dirname(io.program), `runner-${verb}`);
    this.#screen.leave();
    io.stdout.write(`$ runner ${verb} ${word(app)}\n`);
    let signalled: NodeJS.Signals | undefined;
    const status = await new Promise<string>((resolve) => {
      const child = spawn(process.execPath, [program, app, '--root', paths.root], {
        stdio: 'inherit',
      });
      this.#child = (event) => {
        // The terminal sends Ctrl-C to the command too.
        if (event === 'key' || event === 'SIGINT') return;
        signalled = event;
        child.kill(event);
      };
      child.once('error', () => resolve('could not be started'));
      child.once('exit', (code, signal) => resolve(`ended with ${signal ?? code}`));
    });
    if (signalled) return void this.#end(signalStatus(signalled));
    io.stdout.write(`runner ${verb} ${status}. Press a key to go back. `);
    const isBack = new Promise<NodeJS.Signals | 'key'>((resolve) => {
      this.#child = resolve;
    });
    this.#screen.listen();
    const event = await isBack;
    this.#child = undefined;
    if (event !== 'key') return void this.#end(signalStatus(event));
    this.#screen.enter();
    await this.#tick();
  }
}
