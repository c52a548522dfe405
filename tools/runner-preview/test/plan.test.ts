/** Plans of previews against a model: what may be built, what stays, and what goes. */
import type { PreviewMark, PreviewSettings, SeenPreview } from '@runner/common/apps/preview';
import { randomOf } from '@runner/testing/random';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { labellerOf } from '../src/host/fork.ts';
import type { PreviewCandidate } from '../src/host/pulls.ts';
import { dueOf, observe, reconcile } from '../src/plan/reconcile.ts';

/** Random lives of pull requests, and random orders of pushes, labels and looks at a fork. */
const LIVES = Number(process.env.PREVIEW_PLANS ?? 300);
const SCHEDULES = Number(process.env.PREVIEW_SCHEDULES ?? 500);
const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 1);
const sha = (number: number) => number.toString(16).padStart(40, '0');
const iso = (at: number) => new Date(at).toISOString();

interface Life {
  open: boolean;
  commit: number;
  isFork: boolean;
  labels: string[];
  pushed: number;
}

test(`after a quiet fetch ${LIVES} random lives leave exactly the previews that should be`, () => {
  let checks = 0;
  for (let seed = 1; seed <= LIVES; seed += 1) {
    const random = randomOf(seed);
    const pick = (count: number) => Math.floor(random() * count);
    const lives = new Map<number, Life>();
    const marks = new Map<string, PreviewMark>();
    let settings: PreviewSettings | undefined = {
      domain: 'pr-{n}.p.example.org',
      max: 1 + pick(4),
      ttl: 90 * MINUTE,
      since: '',
      by: '',
    };
    if (pick(3) === 0) settings = { ...settings, label: 'go' };
    let now = START;
    let commits = 0;
    const next = () => {
      commits += 1;
      return commits;
    };
    const fetch = (isUp: boolean, killAfter = Number.POSITIVE_INFINITY) => {
      const at = new Date(now);
      const candidates = [...lives]
        .filter(([, { open }]) => open)
        .map(
          ([number, life]): PreviewCandidate => ({
            key: `pr-${number}`,
            number,
            branch: 'b',
            ref: 'r',
            commit: sha(life.commit),
            changed: iso(life.pushed),
            labels: life.labels,
            isFork: life.isFork,
          }),
        );
      if (isUp && settings)
        settings = { ...settings, seen: observe({ candidates, date: iso(now) }, settings, at) };
      const before = JSON.stringify([...marks.keys()]);
      const { actions } = reconcile(
        { settings, candidates: isUp ? candidates : undefined, existing: [...marks.values()] },
        at,
      );
      for (const [done, action] of actions.entries()) {
        if (done >= killAfter) break;
        if (action.do === 'purge') marks.delete(action.preview.key);
        if (action.do === 'remove')
          marks.set(action.preview.key, {
            ...action.preview,
            removed_why: 'x',
            removed_at: iso(now),
          });
        if (action.do === 'show')
          marks.set(action.preview.key, {
            ...action.preview,
            shown: dueOf(action.preview) as string,
          });
        if (action.do === 'deploy') {
          assert.not(action.candidate.isFork, 'a fork that no one let in');
          const { key, number = 0, branch, ref } = action.candidate;
          const outcome = pick(4) === 0 ? 'failed' : 'ready';
          marks.set(key, {
            of: 'shop',
            key,
            number,
            branch,
            ref,
            commit: action.seen.commit,
            pushed_at: action.seen.at,
            domain: `${key}.p.example.org`,
            tries: 0,
            outcome,
          });
        }
      }
      if (!isUp && settings) {
        const alive = [...marks.values()].filter(
          ({ removed_at: removed }) => removed === undefined,
        );
        assert.ok(
          alive.every(({ key }) => before.includes(key)),
          'nothing is made while the host is silent',
        );
        assert.not(
          actions.some((each) => each.do === 'remove'),
          'nothing is removed while the host is silent',
        );
      }
    };
    for (let step = 0; step < 40; step += 1) {
      now += pick(20) * MINUTE;
      const number = 1 + pick(7);
      const life = lives.get(number);
      const what = pick(9);
      if (!life)
        lives.set(number, {
          open: true,
          commit: next(),
          isFork: pick(5) === 0,
          labels: pick(2) ? ['go'] : [],
          pushed: now,
        });
      else if (what < 3) Object.assign(life, { commit: next(), pushed: now });
      else if (what < 5) Object.assign(life, { open: !life.open, pushed: now });
      else if (what === 5) life.labels = life.labels.length > 0 ? [] : ['go'];
      else if (what === 6) settings = settings && { ...settings, max: 1 + pick(4) };
      fetch(pick(4) > 0, pick(3) === 0 ? pick(3) : undefined);
    }
    for (let quiet = 0; quiet < 2; quiet += 1) fetch(true);
    const seen: Record<string, SeenPreview> = settings?.seen ?? {};
    const fit = [...lives].filter(([number, { open, isFork, labels }]) => {
      const at = Date.parse(seen[`pr-${number}`]?.at ?? '');
      return (
        open &&
        !isFork &&
        (settings?.label === undefined || labels.includes('go')) &&
        now - at <= 90 * MINUTE
      );
    });
    const alive = [...marks.values()].filter(({ removed_at: removed }) => removed === undefined);
    assert.is(alive.length, Math.min(fit.length, settings?.max ?? 0), `seed ${seed}`);
    for (const mark of alive) {
      const life = lives.get(mark.number ?? 0);
      assert.is(mark.commit, sha(life?.commit ?? 0), `seed ${seed}`);
      assert.is(mark.shown, dueOf(mark));
    }
    now += 49 * 60 * MINUTE;
    fetch(true);
    settings = undefined;
    fetch(false);
    fetch(false);
    now += 49 * 60 * MINUTE;
    fetch(false);
    assert.is(marks.size, 0, `seed ${seed}: nothing stays two days after the end`);
    checks += 1;
  }
  console.log(`(${checks} lives)`);
});

test('one that an operator brought back has a place, and the oldest gives way; one half brought back goes', () => {
  const at = (minute: number) => iso(START + minute * MINUTE);
  const open = (number: number): PreviewCandidate => ({
    key: `pr-${number}`,
    number,
    branch: 'b',
    ref: 'r',
    commit: sha(number),
    changed: at(number),
    labels: [],
    isFork: false,
  });
  const mark = (number: number): PreviewMark => ({
    of: 'shop',
    ...open(number),
    pushed_at: at(number),
    domain: `pr-${number}.p.example.org`,
    tries: 0,
    outcome: 'ready',
  });
  const basic = { domain: 'pr-{n}.p.example.org', max: 2, ttl: 90 * MINUTE, since: '', by: '' };
  const candidates = [open(1), open(2)];
  const now = new Date(START + 10 * MINUTE);
  const settings = { ...basic, seen: observe({ candidates, date: undefined }, basic, now) };
  const { outcome: _, ...killed } = { ...mark(4), undone_at: at(6) };
  const existing = [mark(1), mark(2), { ...mark(3), undone_at: at(5) }, killed];
  const { actions } = reconcile({ settings, candidates, existing }, now);
  const removed = actions.flatMap((each) => (each.do === 'remove' ? each.preview.key : []));
  assert.equal(removed, ['pr-1', 'pr-4']);
});

test(`in ${SCHEDULES} schedules no label lets a commit in that was not the head when it was put on`, () => {
  let allowed = 0;
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const random = randomOf(seed);
    const pick = (count: number) => Math.floor(random() * count);
    let now = START;
    let head = 1;
    /** Which head each label was put on. */
    const labelled: { at: string; by: string; isOn: boolean; head: number }[] = [];
    const forced: string[] = [];
    let seen: { head: number; at: string } | undefined;
    for (let step = 0; step < 30; step += 1) {
      now += pick(4) * 500;
      const what = pick(5);
      // The host's clock has whole seconds.
      const at = `${iso(now).slice(0, 19)}Z`;
      if (what === 0) {
        // Back to a head from before needs force; a push forward does not.
        const next = pick(3) === 0 ? Math.max(1, head - 1) : head + 1;
        if (next <= head) forced.push(at);
        head = next;
      } else if (what === 1) labelled.push({ at, by: 'ada', isOn: true, head });
      else if (what === 2) labelled.push({ at, by: 'ada', isOn: false, head });
      else {
        if (seen?.head !== head) seen = { head, at };
        const found = labellerOf({ pushed: seen.at, forced, labelled });
        if ('why' in found) seen = { head, at };
        if ('by' in found) {
          allowed += 1;
          assert.is(labelled.at(-1)?.head, head, `seed ${seed}`);
        }
      }
    }
  }
  assert.ok(allowed > 0);
  console.log(`(${SCHEDULES} schedules, ${allowed} times let in)`);
});

test.run();
