/** Whatever stands in a log, the page holds our markup alone. */
import type { LogRecord } from '@runner/common/audit/record';
import { Deploys } from '@runner/history/deploys/fold';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reportOf } from '../src/model/report.ts';
import { pageOf } from '../src/page/page.ts';
import { deployOf, failedBuild } from './samples.ts';

const TAGS =
  'html head meta title style body svg defs g path use header h1 h2 h3 span p main dl div dt dd b i ul ol li ' +
  'section small code bdi time line rect circle details summary table thead tbody tr th td a footer';
const ATTRIBUTES =
  'lang charset http-equiv content name class style id width height aria-hidden aria-label aria-labelledby ' +
  'role viewbox preserveaspectratio href x y x1 x2 y1 y2 cx cy r d transform datetime scope rel';
const [tags, attributes] = [new Set(TAGS.split(' ')), new Set(ATTRIBUTES.split(' '))];
const TAG =
  /<(!doctype html|\/[a-z][a-z0-9]*|([a-z][a-z0-9]*)((?: [a-zA-Z0-9-]+="[^"<>]*")*)\/?)>/g;

/** What a page holds that is not ours; undefined for a good one. */
function foreignIn(page: string): string | undefined {
  const style = page.slice(page.indexOf('<style>') + 7, page.indexOf('</style>'));
  const rest = page.replace(style, '').replace(TAG, (tag, inner: string, name = '', given = '') => {
    const known = inner.startsWith('/') || inner.startsWith('!') || tags.has(name);
    const all = [...given.matchAll(/ ([a-zA-Z0-9-]+)="([^"]*)"/g)];
    const fine = all.every(([, key, value]) => {
      if (key === 'href')
        return /^(#m-[a-z_]+|https:\/\/git\.example\/acme\/shop\/compare\/[0-9a-f.]+)$/.test(value);
      if (key === 'style') return /^((left|top|width):-?[\d.]+%;?)*$/.test(value);
      return attributes.has(key.toLowerCase());
    });
    return known && fine ? '' : tag.replace('<', '<!');
  });
  const at = rest.search(
    /[<>]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/,
  );
  return at === -1 ? undefined : rest.slice(Math.max(0, at - 40), at + 120);
}

const NASTY = [
  '</script><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</style><style>*{display:none}',
  '</title></svg><svg onload=alert(1)>',
  '<!--',
  ']]>',
  '&lt;b&gt;',
  'javascript:alert(1)',
  '${1}',
  '\u202etxt.exe',
  '\u0000\u001b[2J',
  '\ud800',
  'عربى',
];
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(...NASTY),
  fc.constantFrom(...NASTY).map((each) => each.repeat(9)),
);

test('no name, subject, cause, user or host of a log becomes markup', () => {
  const record = fc.record({
    project: text,
    version: text,
    subject: text,
    user: text,
    instance: text,
    deploy_id: text,
    previous_version: text,
    commit: fc.oneof(text, fc.constant('a'.repeat(40))),
    cause: text,
    stage: text,
    failed: fc.boolean(),
    from_version: text,
    migration: fc.constantFrom('broken', 'unknown', ''),
    migration_reasons: fc.array(text, { maxLength: 6 }),
    migration_restore: text,
    database_backup: text,
  });
  const logs = fc.array(record, { minLength: 1, maxLength: 6 });
  const check = (
    log: typeof logs extends fc.Arbitrary<infer L> ? L : never,
    server: string,
    app: string,
  ) => {
    const deploys = new Deploys();
    log.forEach(({ cause, stage, failed, from_version, ...own }, index) => {
      const end = failed ? { ...failedBuild(cause), stage } : { steps: [{ stage, ms: 5 }] };
      for (const each of deployOf(10 - index, own, end)) deploys.add(each as LogRecord);
      if (index % 3 === 2) {
        const back = { event_type: 'RollbackSuccess', from_version, deploy_id: `back${index}` };
        deploys.add({ ...deployOf(9.5 - index, own, {})[0], ...back });
      }
    });
    const until = Date.now();
    const report = reportOf({
      server,
      app,
      period: { since: until - 86_400_000, until },
      history: deploys.all,
      apps: undefined,
      compareOf: () => 'https://git.example/acme/shop/compare/a...b',
      backupOf: () => undefined,
    });
    assert.is(foreignIn(pageOf(report)), undefined);
  };
  fc.assert(fc.property(logs, text, fc.oneof(text, fc.constant('shop')), check), { numRuns: 150 });
});

test('the check sees markup that is not ours', () => {
  for (const bad of [
    '<script>',
    '<b onclick="x">',
    '<a href="javascript:x">',
    '<p>a > b</p>',
    '\u202e',
  ])
    assert.ok(foreignIn(`<style></style><p>${bad}</p>`), bad);
});

test.run();
