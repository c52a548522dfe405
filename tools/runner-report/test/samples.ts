/** Logs for the tests of the report. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@runner/testing/temp';

export const HOUR = 3_600_000;

/** A root whose audit log holds these records. */
export function rootWith(records: readonly object[]): string {
  const root = temporaryFolder('report');
  mkdirSync(join(root, 'logs'));
  const lines = records.map((each) => `${JSON.stringify(each)}\n`).join('');
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), lines);
  return root;
}

/** What one deploy leaves in the log: `hours` ago. */
export function deployOf(hours: number, more: object, end: object): object[] {
  const start = Date.now() - hours * HOUR;
  const own = {
    project: 'shop',
    instance: 'default',
    user: 'ada',
    trigger: 'manual',
    deploy_id: Math.round(hours * 1000)
      .toString(16)
      .padStart(8, '0'),
    ...more,
  };
  const at = (time: number) => ({ timestamp: new Date(time).toISOString(), ...own });
  return [
    { ...at(start), event_type: 'DeployStarted' },
    { ...at(start + 20_000), event_type: 'DeploySuccess', duration_ms: 20_000, ...end },
  ];
}

/** The end of a failed build. */
export const failedBuild = (cause: string) => ({
  event_type: 'DeployFailure',
  stage: 'build',
  error: 'build: exited with 1',
  cause,
  steps: [{ stage: 'build', ms: 19_000 }],
});

export const COMMITS = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40));

/** Three good deploys, a failed one, and one that was rolled back. */
export const STORY = [
  ...deployOf(90, { version: 'v1', commit: COMMITS[0], subject: 'First' }, {}),
  ...deployOf(60, { version: 'v2', commit: COMMITS[1], subject: 'Second' }, {}),
  ...deployOf(50, { version: 'v3', commit: COMMITS[2] }, failedBuild('error TS2339 at line 17')),
  ...deployOf(40, { version: 'v4', commit: COMMITS[3] }, failedBuild('error TS2339 at line 4711')),
  ...deployOf(
    30,
    { version: 'v5', project: 'blog', instance: 'eu' },
    {
      event_type: 'DeployFailure',
      stage: 'health',
      error: 'answered 503',
      rolled_back: true,
    },
  ),
  ...deployOf(2, { version: 'v6', commit: COMMITS[3], subject: 'Fix <all> & "more"' }, {}),
];
