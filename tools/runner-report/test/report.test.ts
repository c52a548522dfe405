import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeState } from '@runner/testing/app-states';
import { run } from '@runner/testing/run';
import { temporaryFolder } from '@runner/testing/temp';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { COMMITS, deployOf, failedBuild, rootWith, STORY } from './samples.ts';

/** What a reader sees of a page, without its markup. */
function textOf(page: string): string {
  const body = page.slice(page.indexOf('<body>')).replace(/<title>.*?<\/title>|<\/?bdi>/g, '');
  return body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('the page shows what runs, the figures, the causes by their shape, and each deploy', async () => {
  const root = rootWith(STORY);
  const cwd = temporaryFolder('report');
  const { status, stdout, stderr } = await run('runner-report', ['--html', 'page.html'], {
    root,
    cwd,
  });
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /page\.html: 6 deploys since \d{4}-\d\d-\d\d, \d+ KiB\n$/);
  const text = textOf(readFileSync(join(cwd, 'page.html'), 'utf8'));
  assert.match(text, /Deploys 6 0\.1 a day Change failure rate 25 % 1 of 4 changes/);
  assert.match(
    text,
    /What runs now shop v6 Fix &lt;all&gt; &amp; &quot;more&quot; since \d+ \w+ \d{4} \d/,
  );
  assert.match(text, /3 succeeded 2 failed 1 rolled back/);
  assert.match(text, /Why deploys failed .* 2 error TS2339 at line 4711 build, shop, last in v4/);
  assert.match(text, /1 answered 503 health, blog, last in v5/);
  assert.match(text, /blog \/eu v5 rolled back 20 s ada answered 503/);
});

test('the pictures begin with the day of the first deploy', async () => {
  const days = async (records: readonly object[]) => {
    const { stdout } = await run('runner-report', ['--html', '-'], { root: rootWith(records) });
    const [axis = ''] = /<div class="axis">.*?<\/div>/s.exec(stdout) ?? [];
    return axis.replace(/<[^>]*>/g, ' ');
  };
  assert.match(await days(deployOf(2, { version: 'v1' }, {})), /\d\d:\d\d/);
  assert.not.match(await days(deployOf(60 * 24, { version: 'v1' }, {})), /\d\d:\d\d/);
});

test('a first record without a valid time hides no picture', async () => {
  const page = async (records: readonly object[]) =>
    (await run('runner-report', ['--html', '-'], { root: rootWith(records) })).stdout;
  const broken = { event_type: 'DeployFailure', project: 'shop', version: 'v0', error: 'x' };
  const shown = await page([{ ...broken, timestamp: '2026-99-99T09:00:00.000Z' }, ...STORY]);
  assert.not.match(shown, 'NaN');
  const unit = /Outcomes <small>[^<]*/.exec(await page(STORY))?.[0];
  assert.match(shown, String(unit));
});

test('a deploy links to what changed, where the host of its app is known', async () => {
  const root = rootWith(STORY);
  writeState(root, 'shop', { repo: 'acme/shop' });
  const { stdout } = await run('runner-report', ['--html', '-', '--offline'], { root });
  const links = [...stdout.matchAll(/href="(http[^"]*)"/g)].map(([, link]) => link);
  const [one, two, three, four] = COMMITS;
  const compare = 'https://github.com/acme/shop/compare';
  assert.equal(links, [
    `${compare}/${two}...${four}`,
    `${compare}/${two}...${four}`,
    `${compare}/${two}...${three}`,
    `${compare}/${one}...${two}`,
  ]);
  assert.not.match(
    (await run('runner-report', ['--html', '-'], { root: rootWith(STORY) })).stdout,
    /href="http/,
  );
});

test('a deploy that migrated shows the verdict, the backup and the way to restore it', async () => {
  const id = '3f9c2d7e';
  const restore = `runner rollback shop --to v1 --database ${id}`;
  const records = [
    ...deployOf(9, { version: 'v1', deploy_id: '00000001' }, { migration: 'additive' }),
    ...deployOf(
      8,
      { version: 'v2', deploy_id: id },
      {
        migration: 'broken',
        migration_reasons: ['removes column orders."<note>"'],
        migration_restore: restore,
      },
    ),
    ...deployOf(7, { version: 'v3' }, { migration: 'no such', migration_restore: 'x' }),
    {
      ...deployOf(6, { version: 'v1', from_version: 'v3', database_backup: id }, {})[0],
      event_type: 'RollbackSuccess',
    },
  ];
  const root = rootWith(records);
  const rowsOf = async () =>
    textOf((await run('runner-report', ['--html', '-', '--offline'], { root })).stdout);
  const broken =
    /v2 success 20 s ada the database has changed, a version from before does not work with it: removes column orders\.&quot;&lt;note&gt;&quot;; to restore what was before: runner rollback shop --to v1 --database 3f9c2d7e /;
  const text = await rowsOf();
  assert.match(text, broken);
  assert.match(text, /v1 success 20 s ada the database has changed, a version from before still/);
  assert.match(text, /manual rollback – ada the database was restored from the backup 3f9c2d7e/);
  assert.match(text, /v3 success 20 s ada \d/);
  // Once the server knows that the backup is gone, the line is not shown; while it is there, its size is.
  const backup = { deploy_id: id, at: '2026-05-04T09:30:12.000Z', database: 'x', variable: 'URL' };
  const database_backups = [{ ...backup, size: 1, bytes: 12_288, ms: 1, migrations: [] }];
  writeState(root, 'shop', { database_backups });
  assert.not.match(await rowsOf(), /to restore what was before/);
  mkdirSync(join(root, 'apps/shop/database'), { recursive: true });
  writeFileSync(join(root, 'apps/shop/database', `${id}.age`), '');
  assert.match(await rowsOf(), /; backup 3f9c2d7e, 12 KiB; to restore what was before: runner/);
});

test('secrets are redacted: of any shape, and the values of this server', async () => {
  const root = temporaryFolder('report');
  const value = 'quiet-lake-7-morning-5';
  const shaped = `ghp_${'a1B2c3D4'.repeat(4)}abcd`;
  await run('runner-add', ['--repo', 'acme/shop', '--branch', 'main', '--token', '-'], {
    root,
    stdin: value,
  });
  mkdirSync(join(root, 'logs'), { recursive: true });
  const records = [shaped, value].flatMap((secret, index) =>
    deployOf(
      index + 1,
      { version: `v${index}`, subject: `use ${secret}` },
      failedBuild(`no ${secret} here`),
    ),
  );
  records.push(...deployOf(0.5, { version: 'v9', subject: `use ${value}`, user: shaped }, {}));
  const lines = records.map((each) => `${JSON.stringify(each)}\n`).join('');
  writeFileSync(join(root, 'logs/deploy-events.jsonl'), lines);
  const { status, stdout } = await run('runner-report', ['--html', '-', '--offline'], { root });
  assert.is(status, 0);
  assert.match(stdout, /\[REDACTED\]/);
  for (const secret of [shaped, value]) assert.not.ok(stdout.includes(secret));
});

test('numbers of the slowest deploys that were moved aside have a line to their point', async () => {
  // The first one makes the picture ten days wide, whatever the time of day.
  const same = [240, 3, 2, 1].flatMap((hour) => deployOf(hour, { version: `v${hour}` }, {}));
  const { stdout } = await run('runner-report', ['--html', '-'], { root: rootWith(same) });
  const [, leads = ''] = /<g class="leads">(.*?)<\/g>/.exec(stdout) ?? [];
  assert.is(leads.match(/<line /g)?.length, 2);
});

test('records of another server can come through a pipe', async () => {
  const stdin = STORY.map((each) => `${JSON.stringify(each)}\n`).join('');
  const root = join(temporaryFolder('report'), 'missing');
  const { status, stdout, stderr } = await run('runner-report', ['-', '--html', '-'], {
    root,
    stdin,
  });
  assert.equal([status, stderr], [0, '']);
  const text = textOf(stdout);
  assert.match(stdout, '<h1>Deploys <span></span></h1>');
  assert.match(text, /What runs now shop v6/);
});

test('a server without deploys has a page too; long lists say what they leave out', async () => {
  const none = await run('runner-report', ['--html', '-'], { root: temporaryFolder('report') });
  assert.is(none.status, 0);
  assert.match(
    textOf(none.stdout),
    /Nothing has been deployed yet\..*No version was active\..*No deploys\./,
  );
  const many = Array.from({ length: 300 }, (_, index) =>
    deployOf(1 + index / 10, { version: `v${300 - index}`, project: `app-${index % 70}` }, {}),
  ).flat();
  const { stdout } = await run('runner-report', ['--html', '-'], { root: rootWith(many) });
  const text = textOf(stdout);
  assert.match(text, /and 10 more .* and 50 apps with fewer deploys .* and 100 earlier deploys/);
});

test('a wrong call is one sentence, and leaves what was there', async () => {
  const root = rootWith(STORY);
  const cwd = temporaryFolder('report');
  writeFileSync(join(cwd, 'page.html'), 'before');
  const call = (...args: string[]) => run('runner-report', args, { root, cwd });
  assert.match((await call()).stderr, /required arguments were not provided: .*--html <FILE>/);
  const future = await call('--html', 'page.html', '--since', '2999-01-01');
  assert.equal([future.status, readFileSync(join(cwd, 'page.html'), 'utf8')], [2, 'before']);
  const folder = await call('--html', '.');
  assert.is(folder.status, 1);
  assert.is((await call('--html', '-', '--json')).status, 2);
  const { stdout } = await call('shop', '--html', 'page.html', '--json', '--since', '70h');
  const { file, deploys, bytes } = JSON.parse(stdout);
  assert.equal([file, deploys, bytes], [join(cwd, 'page.html'), 4, readFileSync(file).length]);
});

test.run();
