/** What a call of an agent is answered: its grant decides, never what the call says. */
import { isApproved, readPlan } from '@runner/common/apps/plans';
import { findApp } from '@runner/common/apps/store';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { redactorForAll } from '@runner/common/redaction/redact';
import { jsonLine } from '@runner/common/text/harmless';
import { type JsonObject, jsonObject } from '@runner/common/text/json';
import { type Grant, isOfGrant, readGrant } from '@runner/deploy/approval/grants';
import { marked, withoutEmpty } from './answer.ts';
import { execute } from './execute.ts';
import { takeTurn } from './rate.ts';
import { recordCall } from './record.ts';
import { type AgentTool, type ToolArguments, toolsOf, wrongIn } from './tools.ts';

/** Answers wait for each other; with more waiting, the next is refused. */
const WAITING_MAX = 16;
/** Nothing of the error: it may hold anything. */
const BUG = 'this is a bug of runner-mcp; the call was recorded';

/** An answer, how the call went (`done`, `running` or a code), and what it was about. */
interface Answered {
  readonly text: string;
  readonly outcome: string;
}

/** The app and the plan of a call, as far as the grant has them. */
interface Subject {
  app: string;
  plan?: string;
}

type AboutSubject = Answered & { readonly subject: Subject };

const BUSY = { text: 'too many calls at once', outcome: 'busy', subject: { app: '-' } };

/** The calls of one agent, one after the other. */
export class AgentSession {
  readonly #server: Server;
  readonly #name: string | undefined;
  readonly #since: string | undefined;
  readonly #key: string | null | undefined;
  readonly #signal: AbortSignal;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Without a grant all apps may be looked at. */
  constructor(server: Server, grant: Grant | undefined, signal: AbortSignal) {
    this.#server = server;
    this.#name = grant?.name;
    this.#since = grant?.since;
    this.#key = grant?.key;
    this.#signal = signal;
  }

  /** As it is now: its level may have changed. Throws `grant_invalid` if it is another, or was removed. */
  #grant(): Grant | undefined {
    if (this.#name === undefined) return undefined;
    const now = readGrant(this.#server.io.env, this.#name);
    if (now.since === this.#since && now.key === this.#key) return now;
    throw new Failure('grant_invalid', `the grant '${this.#name}' of this session was removed`);
  }

  /** Throws `grant_invalid`. */
  tools(): AgentTool[] {
    return toolsOf(this.#grant()?.level ?? 'look');
  }

  /** Resolves after the record is written. Throws what keeps it from being written. */
  call(name: string, args: unknown = {}): Promise<{ text: string; isError: boolean }> {
    if (this.#waiting >= WAITING_MAX) return this.#recorded(name, args, async () => BUSY);
    this.#waiting += 1;
    const answer = () => this.#answer(name, args);
    const turn = this.#last.then(() => this.#recorded(name, args, answer));
    this.#last = turn.catch(() => {}).finally(() => (this.#waiting -= 1));
    return turn;
  }

  /** Records that a message could not be read. Throws what keeps that from being recorded. */
  unreadable(): void {
    this.#record('-', undefined, { app: '-' }, 'usage');
  }

  /** Resolves when the calls so far are recorded. */
  async settled(): Promise<void> {
    await this.#last;
  }

  async #recorded(name: string, args: unknown, answer: () => Promise<AboutSubject>) {
    const { subject, text, outcome } = await answer();
    this.#record(name, args, subject, outcome);
    return { text, isError: !['done', 'running'].includes(outcome) };
  }

  #record(tool: string, args: unknown, { app, plan }: Subject, outcome: string): void {
    recordCall(this.#server, { grant: this.#name, tool, app, plan, outcome, args });
  }

  async #answer(name: string, args: unknown): Promise<AboutSubject> {
    const { io, paths } = this.#server;
    const redact = await redactorForAll({ paths, env: io.env });
    const subject: Subject = { app: '-' };
    try {
      const tool = this.tools().find((each) => each.name === name);
      if (!tool) throw new Failure('usage', 'there is no tool of this name');
      const wrong = wrongIn(tool, args);
      if (wrong !== undefined) throw new Failure('usage', `these arguments are refused: ${wrong}`);
      const { text, outcome } = await this.#run(tool, args as ToolArguments, subject);
      return { text: marked(redact(text)), outcome, subject };
    } catch (error) {
      if (!(error instanceof Failure)) return { text: BUG, outcome: 'bug', subject };
      const text = marked(redact(`${error.code}: ${error.message}`));
      return { text, outcome: error.code, subject };
    }
  }

  /** What a call is about. Throws `app_not_found`, `plan_not_found`: for another grant's as for none. */
  #subjectOf({ app, plan: id }: ToolArguments): Subject {
    const { paths } = this.#server;
    const grant = this.#grant();
    const isOwn = (name: string) => grant === undefined || grant.apps.includes(name);
    if (id !== undefined) {
      const { plan } = readPlan(paths, String(id));
      if ((!grant || isOfGrant(grant, plan)) && isOwn(plan.app))
        return { app: plan.app, plan: plan.id };
      throw new Failure('plan_not_found', `there is no plan '${id}' of yours`);
    }
    if (app === undefined) return { app: '-' };
    const name = String(app);
    if (isOwn(name) && findApp(paths, name)) return { app: name };
    throw new Failure('app_not_found', `there is no app '${name}'`);
  }

  async #run(tool: AgentTool, args: ToolArguments, subject: Subject): Promise<Answered> {
    Object.assign(subject, this.#subjectOf(args));
    const grant = this.#name;
    const acts = subject.plan !== undefined;
    if (acts) this.#takeTurn(subject);
    // What has an effect is recorded before it: this session may be ended at any moment.
    if (tool.level !== 'look') this.#record(tool.name, args, subject, 'begun');
    const run = { argv: tool.argv(args), grant, acts, signal: this.#signal };
    const { status, output } = await execute(this.#server, run);
    if (status === null && acts)
      return { text: 'it goes on: ask status or history later', outcome: 'running' };
    if (status === null)
      return this.#signal.aborted
        ? { text: 'the session ended before the answer', outcome: 'interrupted' }
        : { text: 'it took too long and was ended', outcome: 'timeout' };
    const parsed = output.split('\n').map((line) => jsonObject(line));
    const lines = parsed.filter((line) => line !== undefined);
    const failure = lines.findLast(
      ({ error, message }) => error !== undefined && message !== undefined,
    );
    if (status !== 0 && failure)
      return { text: `${failure.error}: ${failure.message}`, outcome: String(failure.error) };
    const shaped = lines.map((line) => (tool.shape ? tool.shape(this.#own(line)) : line));
    const shown = shaped.filter((each) => each !== undefined).map(withoutEmpty);
    const text = shown.map((each) => (typeof each === 'string' ? each : jsonLine(each))).join('\n');
    return { text, outcome: status === 0 ? 'done' : 'failed' };
  }

  /** Of a plan that no one had to approve. Throws `rate_limited`. */
  #takeTurn({ app, plan = '' }: Subject): void {
    const stored = readPlan(this.#server.paths, plan);
    const isFree = stored.plan.needs.count === 0 && isApproved(stored) && !stored.applied;
    if (isFree && this.#name !== undefined) takeTurn(this.#server, this.#name, app);
  }

  /** A list of apps without those that are not the grant's. */
  #own(line: JsonObject): JsonObject {
    const { apps } = line;
    const names = this.#grant()?.apps;
    if (!Array.isArray(apps) || names === undefined) return line;
    return { ...line, apps: apps.filter(({ app }) => names.includes(app)) };
  }
}
