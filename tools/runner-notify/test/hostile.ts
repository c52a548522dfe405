/** Text that has broken somebody's notifications before, for property tests. */
import * as fc from 'fast-check';

const PIECES = [
  ...'_*[]()~`>#+-=|{}.!\\',
  '``',
  '```',
  '```sh\n',
  '||',
  '](http://x)',
  '\\`',
  '\\\\',
  '<b>',
  '</pre>',
  '&amp;',
  '<@123>',
  '@everyone',
  'https://example.org/a_b?c=(d)',
  '/start',
  '${ERROR}',
  '$&',
  '$1',
  '\u001b[31mred\u001b[0m',
  '\u001b]8;;http://x\u0007link\u001b]8;;\u0007',
  '10%\r99%\r',
  '\r\n',
  '\n',
  '\n\n  ',
  '\t',
  '\u0000',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\ud800',
  '\udc00',
  'e\u0301\u0323',
  'o\u0333',
  '漢字',
  'שלום',
  'مرحبا',
  '😀',
  '👨‍👩‍👧‍👦',
  '🏳️‍🌈',
  '🇩🇪',
  ' ',
  'word',
  'Error: boom',
];

/** Up to some hundred characters. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((all) => all.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
);

/** Any length up to some ten thousand characters, dense in what must be escaped. */
export const longHostileText: fc.Arbitrary<string> = fc
  .tuple(hostileText, fc.integer({ min: 1, max: 400 }), hostileText)
  .map(([body, times, end]) => body.repeat(times) + end);

/** A record of any kind, whose every field is hostile or missing. */
export const hostileRecord = fc.record({
  kind: fc.constantFrom(
    'DeployStarted',
    'DeploySuccess',
    'DeployFailure',
    'RollbackSuccess' as const,
  ),
  project: hostileText,
  fields: fc.record(
    {
      instance: hostileText,
      version: hostileText,
      deploy_id: hostileText,
      previous_version: hostileText,
      from_version: hostileText,
      reason: hostileText,
      rolled_back: fc.boolean(),
      error: longHostileText,
    },
    { requiredKeys: [] },
  ),
});
