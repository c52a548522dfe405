import { readDeployFile } from '@runner/common/deploy-file/read';
import { deployFileText, type ProposedSetting } from '@runner/common/deploy-file/write';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';

const SETTINGS: readonly ProposedSetting[] = [
  { path: ['instances', 'default', 'env', 'PORT'], value: '3000', reason: 'server.js: line 4' },
  { path: ['build', 'run'], value: ['npm ci', 'npm run build'], reason: 'package-lock.json' },
  { path: ['start', 'type'], value: 'process' },
  { path: ['start', 'run'], value: 'node a.js: "b" # c', reason: 'package.json:\nscripts.start' },
  { path: ['shared'], value: ['uploads/'], reason: 'is in .gitignore' },
];

test('each setting stands on its line with its reason', () => {
  assert.is(
    deployFileText(SETTINGS, ['Written by runner init']),
    `# Written by runner init

instances:
  default:
    env:
      PORT: "3000" # server.js: line 4
build:
  # package-lock.json
  run:
    - npm ci
    - npm run build
start:
  type: process
  run: 'node a.js: "b" # c' # package.json: scripts.start
# is in .gitignore
shared:
  - uploads/
`,
  );
});

test('without settings it is a file without content, and names no schema that is not installed', () => {
  assert.is(readDeployFile(Buffer.from(deployFileText([]))).start.type, 'none');
  assert.is(deployFileText([]), '\n');
});

test('what runner would refuse is not written', () => {
  const text = told(() => deployFileText([{ path: ['keep'], value: -1 }]));
  assert.match(text, '.deploy.yml:');
});

test('any printable command and variable is read as it was given', () => {
  const printable = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .filter((text) => !/[\p{C}\u2028\u2029]/u.test(text) && text.trim() !== '');
  fc.assert(
    fc.property(printable, printable, fc.string(), (command, value, reason) => {
      const file = readDeployFile(
        Buffer.from(
          deployFileText([
            { path: ['instances', 'default', 'env', 'A'], value, reason },
            { path: ['build', 'run'], value: [command, command], reason },
          ]),
        ),
      );
      assert.equal(file.build.run, [command, command]);
      assert.equal(file.instances[0]?.env, { A: value });
    }),
  );
});

test.run();
