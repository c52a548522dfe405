import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import { refused } from './refusals.ts';

const REQUIRED = 'error: the following required arguments were not provided:';

for (const [args, sentence] of [
  [[], `${REQUIRED} <APP>; usage: runner edit [OPTIONS] <APP>`],
  [['--branch', 'next'], `${REQUIRED} <APP>; usage: runner edit [OPTIONS] <APP>`],
  [
    ['shop'],
    `${REQUIRED} <--token <TOKEN>|--token-file <FILE>|--token-from <APP>|--public|--repo <OWNER/NAME>|--branch <BRANCH>|--tags <PATTERN>|--semver <RANGE>|--paths <PATHS>|--require-checks <CHECKS>|--require-signed <head|strict|off>|--deploy-file <FILE>>`,
  ],
  [
    ['shop', '--ckey', '--branch', 'next'],
    `${REQUIRED} <--token <TOKEN>|--token-file <FILE>|--token-from <APP>>`,
  ],
  ...['all,build', 'none,build', 'build,,test'].map(
    (checks) =>
      [
        ['shop', '--require-checks', checks],
        `error: invalid value '${checks}' for '--require-checks <CHECKS>': give all, none, or names separated by commas`,
      ] as const,
  ),
] as const) {
  test(`wrong usage: edit ${args.join(' ')}`, () => refused(args, 2, sentence));
}

test('a damaged state file is reported and left as it is', () =>
  refused(
    ['shop', '--branch', 'next'],
    1,
    'runner edit: the state file ROOT/state/shop.json is not JSON (state_malformed)',
    { change: (root) => writeFileSync(join(root, 'state/shop.json'), '{') },
  ));

test.run();
