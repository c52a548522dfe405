/** A record of every kind, to show the messages. */
import type { StateEvent } from '@runner/common/audit/events';
import type { Announceable } from './records.ts';

const DAY = 86_400_000;

/** Enough lines for an error that is longer than one message shows. */
const STEPS = 24;

/** A record of every kind, and of a failure those whose messages differ. */
export function sampleRecords(deployId: string, now: Date): Announceable[] {
  const common = {
    timestamp: now.toISOString(),
    instance: 'default',
    version: 'v1.3.0',
    deploy_id: deployId,
    previous_version: 'v1.2.9',
    domain: 'shop.example.org',
    user: 'alice',
    changes: {
      count: 3,
      subjects: ['Fix the cart', 'Add taxes', 'Round prices'],
      authors: ['alice', 'bob'],
      compare: 'https://github.com/acme/shop/compare/v1.2.9...v1.3.0',
    },
  };
  const record = (kind: Announceable['kind'], fields: object): Announceable => ({
    kind,
    project: 'shop',
    fields: { ...common, event_type: kind, project: 'shop', ...fields },
  });
  return [
    record('DeployStarted', {}),
    record('DeploySuccess', { duration_ms: 65_000 }),
    record('DeployFailure', {
      error: 'health: http://127.0.0.1:3000/health answered 500, wanted 200-299',
    }),
    record('DeployFailure', { error: longError(), blocked: true }),
    record('RollbackSuccess', {
      version: 'v1.2.9',
      from_version: 'v1.3.0',
      reason: 'health: answered 500, wanted 200-299',
    }),
    ...stateRecords(deployId, now).map(([kind, fields]) => record(kind, fields)),
  ];
}

/** Changes in the state of an app, and the failed check that `CheckRecovered` ends. */
function stateRecords(deployId: string, now: Date): (readonly [Announceable['kind'], object])[] {
  const since = now.toISOString();
  const ends = new Date(now.getTime() + 7 * DAY).toISOString();
  const reasons: Readonly<Record<StateEvent, string>> = {
    CheckRecovered: `the branch could not be checked since ${since}`,
    ApprovalWanted:
      'deploy, 3 commits by alice, bob, waits for approval p-1a2b3c4d by bob, until 2026-12-24 18:00 UTC: runner approve p-1a2b3c4d',
    PlanApproved: 'bob approved deploy of v1.3.0, 1 of 1',
    PlanExpired: 'p-1a2b3c4d expired without approval: runner plan deploy shop',
    AppDown: 'not restarted automatically; run: runner start shop',
    AppUp: '',
    TokenEnding: `the token of shop expires in 7 days, at ${ends}: create a new one and run runner edit shop --token -`,
    JobFailed: 'job nightly: `npm run nightly` ended with status 1',
    JobRecovered: `job nightly had failed since ${since}`,
    JobMissed: `job nightly was due ${since}, and the server did not look then; run it now: runner jobs run shop nightly`,
    JobSlow: 'job nightly took 9 m 12 s, as a rule 41 s',
    CertEnding: `the certificate of shop.example.org expires in 7 days, at ${ends}: renew it, and reload what serves it`,
    DeployWaiting: 'deploys are allowed on Mon-Thu 9:00-16:00',
    HeadBehind: `v1.3.0 is not deployed since ${since}: deploy blocked, same commit failed 3 times; blocked until the next push; or run: runner deploy shop`,
    TagChanged: 'the tag v1.2.9 was moved to 1b2f93c0b1d5: v1.2.9 of 0c8ba3ed4a29 stays',
    TokenRenewed: 'the token of shop was replaced',
    WatchPassed: 'health of default: 609 of 609 good; requests: 5xx 0.1 % → 0.1 % of 5210',
    WatchFailed: 'requests: 5xx 0.1 % → 7.3 % of 412',
    WatchEnded: 'requests: 5xx 0.0 % of 12, too little to judge',
  };
  // They belong to no deploy.
  const none = {
    deploy_id: null,
    previous_version: undefined,
    user: undefined,
    changes: undefined,
  };
  const branch = { ...none, domain: undefined, version: 'main' };
  const active = { ...none, version: 'v1.2.9' };
  const ofJob = { ...active, job: 'nightly' };
  const ofPlan = { ...branch, version: 'v1.3.0', plan: 'p-1a2b3c4d' };
  const failedJob = `${reasons.JobFailed}\nError: connect ECONNREFUSED 127.0.0.1:5432`;
  /** By the beginning of the kind; the others are about the branch. */
  const subjects: readonly (readonly [string, object])[] = [
    ['Approval', ofPlan],
    ['Plan', ofPlan],
    ['App', active],
    ['JobFailed', { ...ofJob, error: failedJob }],
    ['Job', ofJob],
    ['TagChanged', { ...branch, version: 'tags v*' }],
    ['Watch', { ...none, deploy_id: deployId, version: 'v1.3.0' }],
  ];
  const fetch = { stage: 'fetch', error: 'the code host refuses the token of acme/shop' };
  return [
    ['DeployFailure', { ...branch, deploy_id: deployId, ...fetch }],
    ...Object.entries(reasons).map(([kind, reason]) => {
      const subject = subjects.find(([start]) => kind.startsWith(start))?.[1] ?? branch;
      return [kind as StateEvent, { ...subject, reason }] as const;
    }),
  ];
}

function longError(): string {
  const steps = Array.from(
    { length: STEPS },
    (_, index) => `  compiled src/pages/page-${index + 1}.tsx in ${index + 20} ms, 14 kB`,
  );
  return [
    'build: `npm run build` exited with status 2',
    ...steps,
    "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.",
    '',
    '17   const total: number = sum(items);',
    '           ~~~~~',
    '',
    'Found 1 error in src/cart.ts:17',
  ].join('\n');
}
