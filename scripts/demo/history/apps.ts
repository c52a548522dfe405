/** The apps of the made-up history, and what their commits and failures say. */

/** How an app behaves. */
export interface Habit {
  readonly app: string;
  /** Deploys on a weekday. */
  readonly perDay: number;
  /** Milliseconds of a usual deploy. */
  readonly usual: number;
  /** Parts of all deploys that fail in their build, and after the switch. */
  readonly failing: number;
  readonly unhealthy: number;
  readonly instances: readonly string[];
  /** What its releases are called: `v2.7.1`. */
  readonly major: number;
}

const ONE = ['default'] as const;

export const HABITS: readonly Habit[] = [
  {
    ...{ app: 'shop', perDay: 1.3, usual: 68_000, failing: 0.07, unhealthy: 0.035 },
    ...{ instances: ['blue', 'green'], major: 4 },
  },
  {
    app: 'api',
    perDay: 1.1,
    usual: 41_000,
    failing: 0.05,
    unhealthy: 0.03,
    instances: ONE,
    major: 2,
  },
  {
    app: 'accounts',
    perDay: 0.5,
    usual: 52_000,
    failing: 0.06,
    unhealthy: 0.02,
    instances: ONE,
    major: 1,
  },
  {
    app: 'search',
    perDay: 0.35,
    usual: 95_000,
    failing: 0.12,
    unhealthy: 0.05,
    instances: ONE,
    major: 3,
  },
  {
    app: 'mailer',
    perDay: 0.2,
    usual: 19_000,
    failing: 0.03,
    unhealthy: 0,
    instances: ONE,
    major: 1,
  },
  { app: 'docs', perDay: 0.6, usual: 9_500, failing: 0.02, unhealthy: 0, instances: ONE, major: 1 },
  {
    app: 'status-page',
    perDay: 0.06,
    usual: 7_000,
    failing: 0,
    unhealthy: 0,
    instances: ONE,
    major: 1,
  },
];

export const AUTHORS = [
  'Ada Young',
  'Jonas Weber',
  'Mina Park',
  'Tomás Ruiz',
  'Leïla Haddad',
] as const;

export const SUBJECTS = [
  'Fix the total of the cart',
  'Cache the price list for a minute',
  'Show the delivery date before checkout',
  'Upgrade the database driver',
  'Keep the session when a tab is closed',
  'Send receipts in the language of the customer',
  'Remove the old import of orders',
  'Make the health check ask the database',
  'Log slow queries with their parameters',
  'Sort results by relevance, then by date',
  'Retry a payment that timed out',
  'Explain the return policy',
  'Correct the opening hours',
  'Reduce the size of the images',
  'Add an index for orders by day',
  'Rename customers to accounts',
  'Accept vouchers of two kinds',
  'Time out requests after 30 seconds',
  'Use the new address form',
  'Drop support for the old login',
] as const;

/** A cause of a build that fails; `#` stands for a number that changes. */
export const BUILD_CAUSES = [
  ['build', "src/checkout.ts:#:17 - error TS2339: Property 'total' does not exist on type 'Cart'."],
  ['build', 'npm error code ERESOLVE could not resolve dependency tree'],
  ['build', 'AssertionError [ERR_ASSERTION]: expected 200, got 50# (test/orders.test.js:#)'],
  ['build', "Error: Cannot find module './locales/de.json'"],
  ['build', 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'],
  ['pre_activate', 'ERROR: relation "orders_by_day" already exists'],
] as const;

/** A cause of a version that does not become healthy. */
export const HEALTH_CAUSES = [
  'http://127.0.0.1:80#/health answered 503 for 30 s',
  'Error: connect ECONNREFUSED 127.0.0.1:5432',
  "TypeError: Cannot read properties of undefined (reading 'rates')",
] as const;
