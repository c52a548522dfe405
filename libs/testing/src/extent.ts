/** How much of a long test runs: all of it, or with `npm run test:long -- --part` what fits each commit. */
export const IS_WHOLE = process.env.TEST_PART === undefined;
