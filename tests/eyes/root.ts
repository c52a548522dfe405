/** A root with apps in every state, a deploy that runs in this process, a log that grows, and a job. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppState } from '@runner/common/apps/state';
import { writeApp } from '@runner/common/apps/store';
import { bootId } from '@runner/common/files/process';
import { type Paths, pathsOf } from '@runner/common/foundation/paths';
import { temporaryFolder } from '@runner/testing/temp';

/** The group of those who may only look. */
export const GROUP = 64_123;
export const DEPLOY = 'Dep10y1d';
const BEFORE = '2026-05-04T09:30:00.000Z';
const COMMIT = 'a'.repeat(40);
const NEWER = 'b'.repeat(40);

/** Text that tries to be markup, a terminal's commands, and wider than it looks. */
export const HOSTILE = '<img src=x onerror=alert(1)>\u001b[2J\u202e 漢字漢字 🚀';

/** An app that runs `v1`. */
export function stateOf(app: string, more: Partial<AppState> = {}): AppState {
  const current = {
    version: 'v1',
    commit: COMMIT,
    release: `20260504093000-${COMMIT.slice(0, 12)}`,
    deployed_at: BEFORE,
    deploy_id: `ok${app}000000`.replace(/\W/g, '').slice(0, 8),
    jobs: true as const,
  };
  return {
    version: 1,
    app,
    repo: `acme/${app}`,
    branch: 'main',
    created_at: BEFORE,
    updated_at: new Date().toISOString(),
    state: {},
    instances: { default: { current, previous: [], active_since: BEFORE, active_by: 'ada' } },
    failures: null,
    last_failure: null,
    held: null,
    deploying: null,
    last_checked: BEFORE,
    ...more,
  } as AppState;
}

/** What an app looks like while this process deploys it. */
export function deployingState(app: string, version = 'v2', stage = 'build'): AppState {
  const deploying = {
    deploy_id: DEPLOY,
    pid: process.pid,
    started: new Date().toISOString(),
    boot_id: bootId(),
    commit: COMMIT,
    version,
    instance: 'default',
    stage,
    user: 'ada',
  };
  return stateOf(app, { deploying });
}

/** An app whose last deploy failed. */
export function failedState(app: string, error: string): AppState {
  const last = { version: 'v2', commit: NEWER, deploy_id: 'Fai1ed00', stage: 'build', at: BEFORE };
  const failures = { commit: NEWER, count: 1, last_at: BEFORE, stage: 'build' };
  return stateOf(app, { failures, head: NEWER, last_failure: { ...last, error } } as never);
}

/** Appends to the log of the running deploy. */
export function logLine({ deployLog }: Paths, app: string, text: string): void {
  appendFileSync(deployLog(app, DEPLOY), `${text}\n`);
}

/** `shop` is being deployed, `blog` failed, `site` is healthy; then `app0`, … up to `count` apps. */
export function makeEyesRoot(count = 3, isShared = false): Paths {
  const parent = temporaryFolder('eyes', '/tmp');
  chmodSync(parent, 0o755);
  const root = join(parent, 'root');
  const paths = pathsOf(root);
  for (const folder of [
    'apps/shop',
    'logs/deploys/shop',
    'state',
    'secrets',
    'spool/notify',
    'locks',
  ])
    mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
  writeFileSync(paths.auditLog, '');
  if (isShared) share(root);
  const others = Array.from({ length: count - 3 }, (_, index) => `app${index}`);
  writeApp(paths, deployingState('shop'));
  writeApp(paths, failedState('blog', 'src/a.ts:3: not found'));
  for (const app of ['site', ...others]) writeApp(paths, stateOf(app));
  writeFileSync(paths.deployLog('shop', DEPLOY), 'first line\nsecond line\n');
  record(paths, { event_type: 'DeployStarted', project: 'shop', deploy_id: 'okshop00' });
  record(paths, { event_type: 'DeploySuccess', project: 'shop', deploy_id: 'okshop00' });
  record(paths, { event_type: 'DeployStarted', project: 'blog', deploy_id: 'Fai1ed00' });
  const failure = { stage: 'build', error: 'src/a.ts:3: not found' };
  record(paths, {
    event_type: 'DeployFailure',
    project: 'blog',
    deploy_id: 'Fai1ed00',
    ...failure,
  });
  const job = {
    job: 'report',
    when: 'daily at 02:00',
    next: BEFORE,
    running: false,
    paused: false,
  };
  const trouble = 'job report failed: exit status 3';
  const last = { at: BEFORE, ms: 1200, outcome: 'failed', version: 'v1' };
  writeFileSync(paths.app('shop').jobs, bookOf({ ...job, last }));
  if (isShared)
    writeFileSync(paths.viewOfJobs('shop'), JSON.stringify([{ ...job, trouble, last }]));
  return paths;
}

function bookOf({
  when,
  next,
  last,
}: Readonly<Record<'when' | 'next', string>> & { last: object }): string {
  const rules = { name: 'report', when, schedule: { kind: 'every', ms: 86_400_000 } };
  const runs = [{ id: 'x', due: null, ...last, reason: 'exit status 3' }];
  const trouble = { since: BEFORE, kind: 'failed', count: 1 };
  const entry = {
    rules,
    instance: 'default',
    settled: BEFORE,
    next,
    run: null,
    paused: null,
    trouble,
    runs,
  };
  return JSON.stringify({ of: 'x', jobs: { report: entry } });
}

/** Adds a record to the audit log. */
export function record({ auditLog }: Paths, fields: object): void {
  const common = { timestamp: BEFORE, version: 'v1', instance: 'default', user: 'ada' };
  appendFileSync(auditLog, `${JSON.stringify({ ...common, ...fields })}\n`);
}

/** The access lists that the package makes. */
function share(root: string): void {
  mkdirSync(join(root, 'view'), { mode: 0o750 });
  chmodSync(root, 0o750);
  const list = (...args: string[]) => execFileSync('setfacl', args);
  list('-m', `g:${GROUP}:x`, root);
  list('-R', '-m', `g:${GROUP}:rX,d:g:${GROUP}:rX`, join(root, 'view'), join(root, 'logs'));
}
