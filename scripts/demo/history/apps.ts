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

/** The fields of each, in the order in which `HABITS` names them. */
const ROWS = [
  ['shop', 1.3, 68_000, 0.07, 0.035, 4, ['blue', 'green']],
  ['api', 1.1, 41_000, 0.05, 0.03, 2, ONE],
  ['accounts', 0.5, 52_000, 0.06, 0.02, 1, ONE],
  ['search', 0.35, 95_000, 0.12, 0.05, 3, ONE],
  ['mailer', 0.2, 19_000, 0.03, 0, 1, ONE],
  ['docs', 0.6, 9_500, 0.02, 0, 1, ONE],
  ['status-page', 0.06, 7_000, 0, 0, 1, ONE],
] as const;

export const HABITS: readonly Habit[] = ROWS.map(
  ([app, perDay, usual, failing, unhealthy, major, instances]) => {
    return { app, perDay, usual, failing, unhealthy, major, instances };
  },
);

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
