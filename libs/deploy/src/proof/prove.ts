/**
 * Proves a `.deploy.yml` before it is used: builds as a deploy does, in a scratch root, starts the app
 * there, asks it, and stops it.
 */
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NO_SECRETS } from '@runner/common/app-secrets/open';
import { createApp, newApp } from '@runner/common/apps/store';
import { isHostName } from '@runner/common/config/network';
import { type DeployFile, readDeployFile } from '@runner/common/deploy-file/read';
import { makeFolder } from '@runner/common/files/read';
import { removeTree } from '@runner/common/files/tree-change';
import { writeWhole } from '@runner/common/files/write';
import { orElse } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import type { Redactor } from '@runner/common/secrets/redactor';
import { driverFor } from '../instances/drivers/choose.ts';
import type { Target } from '../instances/drivers/driver.ts';
import { keepFile } from '../instances/kept-file.ts';
import { ceilingOf } from '../instances/network.ts';
import { keptTarget } from '../instances/target.ts';
import { causeOf } from '../journal/cause.ts';
import { contextOf, type Deploy, say } from '../journal/operation.ts';
import { runOrThrow } from '../journal/step.ts';
import { missingPrograms, networkProblems } from '../pipeline/programs.ts';
import {
  finishRelease,
  freeReleaseName,
  makeTemporary,
  temporaryRelease,
} from '../release/folder.ts';
import { buildSteps } from '../release/make.ts';
import { reasoned } from '../release/reason.ts';
import { linkShared, lostLink } from '../release/shared.ts';
import { type Reporter, reported } from '../report/reporter.ts';
import { asStepFailure, StepFailure } from '../run/step.ts';
import { PROXY_VARIABLES } from '../sandbox/guarded.ts';
import { CACHES } from '../sandbox/home.ts';
import { type ProvenAnswer, provenAnswer } from './lasting.ts';
import type { ScratchRoot } from './scratch.ts';

/** What to prove, and how it is tried. */
export interface ProofRequest extends Server {
  readonly app: string;
  readonly scratch: ScratchRoot;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
  readonly redact: Redactor;
  /** The file with another PORT. */
  fileFor(port: number): string;
  /** Puts the files of the commit into a folder. */
  fill(folder: string): Promise<void>;
  /** A file that can stand for a shared one; undefined: an empty file does. */
  sharedFile(path: string): string | undefined;
  /** Paths to ask; empty: nothing is started. */
  readonly asks: readonly string[];
  /** The folder that a web server will serve. */
  readonly output: string | undefined;
}

/** What came of it. `network`: what allows what the build reached, if known. `planned`: it was not tried, and why. */
export type Proof =
  | {
      readonly result: 'proven';
      readonly answer?: ProvenAnswer;
      readonly network?: readonly string[];
    }
  | { readonly result: 'planned'; readonly why: string }
  | { readonly result: 'failed'; readonly why: string; readonly cause: readonly string[] };

/** Proves a file. Throws `interrupted` by the signal alone; the scratch root is the caller's to remove. */
export async function prove(request: ProofRequest): Promise<Proof> {
  const { io } = request;
  const port = await freePort();
  const text = request.fileFor(port);
  const file = readDeployFile(Buffer.from(text));
  if (file.start.type === 'compose')
    return { result: 'planned', why: 'containers are not started to try them' };
  const missing = missingPrograms(file, io.env);
  if (missing.length > 0) return { result: 'planned', why: missing.join('; ') };
  const op = operationOf(request);
  let folder = temporaryRelease(op.paths.app(op.app.app), op.deployId);
  try {
    folder = await learning(op, file, (trial) => built(op, request, trial, text));
    const answer = await tried(op, request, port, folder);
    const { hosts, learned } = op.network;
    // An address, or a name without a dot, has no entry.
    const isListable = hosts.every(({ host }) => isHostName(host) && host.includes('.'));
    const network = isListable ? learned : undefined;
    return { result: 'proven', ...(answer && { answer }), ...(network && { network }) };
  } catch (error) {
    if (request.signal.aborted) throw new Failure('interrupted', 'interrupted');
    const failure = reasoned(asStepFailure(error, 'build'), folder, op.deployId);
    const cause = causeOf(op, failure).split('\n').filter(Boolean);
    return { result: 'failed', why: op.redact(failure.message), cause };
  } finally {
    op.sandbox.close(() => {});
    op.log.close();
  }
}

const COMMIT = '0'.repeat(40);

function operationOf({ io, paths, app, scratch, reporter, signal, redact }: ProofRequest): Deploy {
  const at = io.now().toISOString();
  const state = newApp(app, at, { repo: 'local/checkout', branch: '' });
  createApp(scratch.paths, state);
  const hidden = [paths.root];
  const request = { io, paths: scratch.paths, reporter, signal, hidden, isStrict: true };
  const note = (text: string) => reporter.note(text);
  const op = contextOf({ ...request, note }, state, { secrets: NO_SECRETS, redact });
  return Object.assign(op, {
    commit: COMMIT,
    version: 'checkout',
    instances: ['default'],
    skippedHead: undefined,
    partial: false,
    returns: false,
    isOperators: false,
    about: {},
    changes: { count: null, subjects: [], authors: [] },
  });
}

type Build = (file: DeployFile) => Promise<string>;

/** Builds so that the hosts are learned. If that fails, builds without a guard: some need what it refuses. */
async function learning(op: Deploy, file: DeployFile, build: Build): Promise<string> {
  const limits = { ...file.build.limits, network: 'learn' } as const;
  const trial = { ...file, build: { ...file.build, limits } };
  if (!canLearn(op, trial)) return build(file);
  try {
    return await build(trial);
  } catch (error) {
    if (op.signal.aborted) throw error;
    say(op, 'the build failed while its hosts were learned: it is tried again without that');
    removeTree(temporaryRelease(op.paths.app(op.app.app), op.deployId));
    return build(file);
  }
}

/** Whether a build shows all hosts: downloads that are there already, or a proxy, would hide some. */
function canLearn(op: Deploy, file: DeployFile): boolean {
  const { home } = op.paths.app(op.app.app);
  const isFull = (cache: string) => orElse(() => readdirSync(join(home, cache)), []).length > 0;
  if (CACHES.some(isFull) || PROXY_VARIABLES.some((name) => op.io.env[name])) return false;
  return ceilingOf(op, 'build').network === true && networkProblems(op, file).length === 0;
}

/** Builds as a deploy does. Returns the folder of the release. */
async function built(
  op: Deploy,
  request: ProofRequest,
  file: DeployFile,
  text: string,
): Promise<string> {
  const paths = op.paths.app(op.app.app);
  const folder = temporaryRelease(paths, op.deployId);
  const { shared } = paths.instance('default');
  await reported(request.reporter, 'copy the files', async () => {
    makeTemporary(folder);
    await request.fill(folder);
    for (const { path, folder: isFolder } of file.shared)
      if (!isFolder && !existsSync(join(folder, path))) standIn(request, path, shared);
    linkShared(folder, shared, file.shared);
  });
  await runOrThrow(op, buildSteps(op, file, folder));
  const lost = lostLink(folder, shared, file.shared);
  if (lost) throw new StepFailure('build', `build: ${lost}`);
  const name = freeReleaseName(paths, op.io.now(), COMMIT);
  keepFile(paths, name, Buffer.from(text));
  finishRelease(folder, paths.release(name));
  return paths.release(name);
}

function standIn({ sharedFile }: ProofRequest, path: string, shared: string): void {
  const target = join(shared, path);
  const source = sharedFile(path);
  makeFolder(dirname(target));
  if (source === undefined) writeWhole(target, '', 0o600, false);
  else copyFileSync(source, target);
}

/** Starts it, asks it and stops it. Returns where it answered; undefined if nothing is started. */
async function tried(
  op: Deploy,
  request: ProofRequest,
  port: number,
  folder: string,
): Promise<ProvenAnswer | undefined> {
  const { output, asks } = request;
  if (asks.length === 0) {
    const pages = ['index.html', 'index.php', 'index.htm'];
    const served = join(folder, output ?? '.');
    if (pages.some((page) => existsSync(join(served, page)))) return undefined;
    throw new StepFailure('build', `build: there is no index.html in ${output}`);
  }
  const release = { release: folder.slice(folder.lastIndexOf('/') + 1) };
  const target = keptTarget(op, 'default', { ...release, version: op.version, commit: COMMIT });
  const driver = driverFor((target as Target).start);
  try {
    return await reported(request.reporter, 'start it and ask it', async () => {
      const started = await driver.start(target as Target);
      return await provenAnswer(target as Target, started, request, port);
    });
  } finally {
    await driver.stop(target as Target);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = process.getBuiltinModule('node:net').createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
