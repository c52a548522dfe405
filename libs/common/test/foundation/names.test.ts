import { appName, isAppName, refName, repoName } from '@runner/common/foundation/names';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { told } from '../cli/refusal.ts';

const NAMES = [
  'blog',
  'a',
  '7',
  'Blog-2',
  'my.app_1',
  'a'.repeat(63),
  '007',
  'constructor',
  'x.',
  'a-',
];
const NO_NAMES = [
  '',
  '.',
  '..',
  '-a',
  '_a',
  '.a',
  '__proto__',
  'a..b',
  'a/b',
  '../x',
  'a b',
  'a\n',
  'a\u0000',
  'ä',
  '🐱',
  'a'.repeat(64),
  'a'.repeat(300),
  'a\\b',
  'a:b',
  'a%',
  '~',
  '/',
];

test('this is a valid name for an app', () => {
  for (const name of NAMES) {
    assert.is(appName(name), name);
    assert.ok(isAppName(name));
  }
});

test('this is not a valid name for an app', () => {
  for (const name of NO_NAMES) {
    const shown = name.length > 80 ? `${name.slice(0, 77)}…` : name;
    assert.is(
      told(() => appName(name)),
      `name_invalid: '${shown}' is not an app name: 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit, without '..'`,
    );
    assert.not.ok(isAppName(name));
  }
});

test('the name of the registry’s own lock is reserved', () => {
  assert.is(
    told(() => appName('registry')),
    "name_invalid: 'registry' is reserved: give the app another name with --name",
  );
  assert.not.ok(isAppName('registry'));
});

test('a repository is an owner and a name', () => {
  for (const name of [
    'owner/name',
    'o/n',
    'Org-1/my.repo_2',
    '_a/b',
    '.github/.github',
    'a/...b',
  ]) {
    assert.is(repoName(name), name);
    assert.is(repoName(`${name}.git`), name);
  }
});

test('anything else is not a repository', () => {
  for (const name of [
    '',
    'name',
    '/',
    'a/',
    '/b',
    'a/b/c',
    '-a/b',
    'a/-b',
    '--upload-pack=x/y',
    'a/..',
    '../b',
    './b',
    'a/.',
    'a b/c',
    'a/b\n',
    'a/b?x',
    'a/b#x',
    'a/b%2f',
    'https://github.com/a/b',
    'git@github.com:a/b',
    'a/.git',
    `a/${'b'.repeat(200)}`,
    'ä/b',
  ]) {
    assert.match(
      told(() => repoName(name)),
      /^name_invalid: '.*' is not a repository: give it as <owner>\/<name>$/s,
      name,
    );
  }
});

test('a branch is named by the rules of git', () => {
  for (const name of [
    'main',
    'feature/x-1',
    'v1.2.3',
    'a@b',
    'é',
    '日本',
    'a{b}',
    'HEAD',
    'a.lockx',
    '$(x)',
    '"quoted"',
    '#1',
  ]) {
    assert.is(refName(name), name);
  }
});

test('a name that git would refuse or read as an option is not a branch', () => {
  for (const name of [
    '',
    '-b',
    '--upload-pack=x',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a..b',
    'a.lock',
    'a.lock/b',
    '@',
    'a@{1}',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a\u0000',
    'a\u001f',
    'a\n',
    'a\u007f',
    'a'.repeat(201),
  ]) {
    assert.match(
      told(() => refName(name)),
      /^name_invalid: '.*' is not a valid branch name$/s,
      name,
    );
  }
  assert.is(
    told(() => refName('-x', 'tag')),
    "name_invalid: '-x' is not a valid tag name",
  );
});

test.run();
