import { hostRule } from '@runner/common/config/network';
import { shortestList } from '@runner/deploy/guard/sets';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const SETS = new Map(
  Object.entries({
    npm: ['npm.example.org', 'shared.example.org', 'tarballs.example.org:80'],
    pypi: ['pypi.example.org', 'shared.example.org'],
    cargo: ['shared.example.org'],
    go: [],
  }).map(([name, hosts]) => [name, hosts.map(hostRule)]),
);

const listFor = (...reached: string[]) => shortestList(reached.map(hostRule), SETS);

test('a set stands for what it means, and what no set means is listed by name', () => {
  assert.equal(listFor('npm.example.org'), ['npm']);
  assert.equal(listFor('z.example.org:22', 'npm.example.org', 'a.example.org'), [
    'npm',
    'a.example.org',
    'z.example.org:22',
  ]);
  assert.equal(listFor('npm.example.org:8443'), ['npm.example.org:8443']);
  assert.equal(listFor(), []);
});

test('the list is as short as it can be, whatever the order', () => {
  assert.equal(listFor('shared.example.org', 'tarballs.example.org:80'), ['npm']);
  assert.equal(listFor('pypi.example.org', 'shared.example.org'), ['pypi']);
  assert.equal(listFor('shared.example.org', 'pypi.example.org', 'npm.example.org'), [
    'npm',
    'pypi',
  ]);
});

test.run();
