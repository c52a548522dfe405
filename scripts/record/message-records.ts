/** A record of every kind that is announced: what it shows, and the record. */

const LONG_ERROR = [
  'build: `npm run build` ended with status 2',
  'tsc --project . && vite build',
  ...['cart', 'checkout', 'orders', 'users', 'search', 'invoice', 'mail', 'login'].flatMap(
    (name) => [`compiled src/${name}/view.tsx, 14 kB`, `compiled src/${name}/store.ts, 3 kB`],
  ),
  "src/cart.ts:17:9 - error TS2322: Type 'string' is not assignable to type 'number'.",
  '',
  '17   const total: number = sum(items);',
  '           ~~~~~',
  'Found 1 error in src/cart.ts:17',
  'npm error Lifecycle script `build` failed with error:',
  'npm error code 2',
].join('\n');

const COMMITS = {
  user: 'alice',
  changes: {
    count: 2,
    subjects: ['Fix the cart 🛒', 'Größe in €'],
    authors: ['alice', 'bob'],
    compare: 'https://github.com/acme/shop/compare/v1.2.9...v1.3.0',
  },
};
const BACK = { version: 'v1.2.9', from_version: 'v1.3.0' };
const BEFORE = { previous_version: 'v1.2.9' };
const ACTIVE = { deploy_id: null, version: 'v1.2.9' };
const JOB = { ...ACTIVE, job: 'nightly' };
const BRANCH = { deploy_id: null, version: 'main' };
const UNHEALTHY = 'health: http://127.0.0.1:3000/health answered 503 instead of 200-299';
const REFUSED = 'the code host refuses the token of acme/shop';
const DIGEST = `14 deploys, 2 failed

shop: 9 deploys, 2 failed
  build: error TS2322 (2)
  time to restore: 4 m 10 s
blog: 5 deploys

shop is blocked`;

const ROWS: readonly (readonly [title: string, event_type: string, fields: object])[] = [
  ['A deploy started', 'DeployStarted', COMMITS],
  ['It completed', 'DeploySuccess', { ...COMMITS, duration_ms: 65_000 }],
  [
    'It failed, and its commit is blocked',
    'DeployFailure',
    { ...BEFORE, blocked: true, error: UNHEALTHY },
  ],
  ['It failed with a long log', 'DeployFailure', { ...BEFORE, error: LONG_ERROR }],
  ['It was rolled back', 'RollbackSuccess', { ...BACK, reason: UNHEALTHY }],
  [
    'An app is down',
    'AppDown',
    { ...ACTIVE, reason: 'not restarted automatically; run: runner start shop' },
  ],
  ['It is up again', 'AppUp', ACTIVE],
  [
    'New commits cannot be checked',
    'DeployFailure',
    { version: 'main', ...BEFORE, stage: 'fetch', error: REFUSED },
  ],
  [
    'They can be checked again',
    'CheckRecovered',
    { ...BRANCH, reason: 'the branch could not be checked since 2026-05-04T07:12:00.000Z' },
  ],
  [
    'A deploy waits',
    'DeployWaiting',
    { ...BRANCH, reason: 'deploys are allowed on Mon-Thu 9:00-16:00' },
  ],
  [
    'A tag was moved',
    'TagChanged',
    {
      ...BRANCH,
      version: 'tags v*',
      reason: 'the tag v1.2.9 was moved to 1b2f93c0b1d5: v1.2.9 of 0c8ba3ed4a29 stays',
    },
  ],
  [
    'A token ends soon',
    'TokenEnding',
    {
      ...BRANCH,
      reason:
        'the token of shop expires in 7 days: create a new one and run runner edit shop --token -',
    },
  ],
  ['It was replaced', 'TokenRenewed', { ...BRANCH, reason: 'the token of shop was replaced' }],
  [
    'A watched release is good',
    'WatchPassed',
    { reason: 'health of default: 609 of 609 good; requests: 5xx 0.1 % → 0.1 % of 5210' },
  ],
  ['Another one is bad', 'WatchFailed', { reason: 'requests: 5xx 0.1 % → 7.3 % of 412' }],
  [
    'There was too little to see',
    'WatchEnded',
    { reason: 'requests: 5xx 0.0 % of 12, too little to judge' },
  ],
  [
    'A job failed',
    'JobFailed',
    {
      ...JOB,
      reason: 'job nightly: `npm run nightly` ended with status 1',
      error:
        'job nightly: `npm run nightly` ended with status 1\nError: connect ECONNREFUSED 127.0.0.1:5432',
    },
  ],
  [
    'It works again',
    'JobRecovered',
    { ...JOB, reason: 'job nightly had failed since 2026-05-04T03:00:41.000Z' },
  ],
  [
    'A job was missed',
    'JobMissed',
    {
      ...JOB,
      reason:
        'job nightly was due 2026-05-04T03:00:00.000Z, and the server did not look then; run it now: runner jobs run shop nightly',
    },
  ],
  ['A job is slow', 'JobSlow', { ...JOB, reason: 'job nightly took 9 m 12 s, as a rule 41 s' }],
  [
    'The digest of a week',
    'Digest',
    {
      project: 'all apps',
      deploy_id: null,
      version: '',
      error: DIGEST,
      since: '2026-04-27T09:30:00.000Z',
    },
  ],
];

export const RECORDS = ROWS.map(([title, event_type, fields]): [title: string, record: object] => [
  title,
  {
    timestamp: '2026-05-04T09:30:00.000Z',
    event_type,
    project: 'shop',
    instance: 'default',
    version: 'v1.3.0',
    deploy_id: 'a1b2c3d4',
    ...fields,
  },
]);
