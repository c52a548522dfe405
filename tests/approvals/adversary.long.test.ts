/** APPROVAL_COUNT approvals that must not count, and files that were changed: none has an effect. */
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandPlan, createPlan, listPlans, readPlan } from '@runner/common/apps/plans';
import { Failure } from '@runner/common/foundation/failure';
import { pathsOf } from '@runner/common/foundation/paths';
import { approve, signedApproval } from '@runner/deploy/plan/approve';
import { randomOf } from '@runner/testing/random';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inWorld } from '../deploys/world.ts';
import { armouredBy, signingKey } from '../signed/keys.ts';
import { HOUR, ioOf, planIn, silent } from './library.ts';

const COUNT = Number(process.env.APPROVAL_COUNT ?? 300);
const NAMESPACE = 'runner-approval';
const test = suite('approvals that must not count');

test(`${COUNT} forged, foreign, torn and late approvals have no effect`, () =>
  inWorld(async ({ root, push, deploy }) => {
    await push('v1');
    assert.is((await deploy()).status, 0);
    const config = join(root, 'config.yml');
    appendFileSync(
      config,
      `require_approval: { shop: { deploy: 2, by: [ann, bob, cyd], not_author: true } }\napprovers: ${root}/approvers\n`,
    );
    await push('v2');
    const paths = pathsOf(root);
    const keys = { ann: signingKey(), bob: signingKey(), eve: signingKey(), old: signingKey() };
    const lines = [
      `ann ${keys.ann.line}`,
      `bob namespaces="git" ${keys.bob.line}`,
      `eve ${keys.eve.line}`,
      `cyd valid-before="20200101" ${keys.old.line}`,
    ];
    writeFileSync(join(root, 'approvers'), `${lines.join('\n')}\n`);
    const made = await planIn(root, 'deploy', { by: 'cyd' });
    const { io } = { io: ioOf() };
    const other = createPlan({ io, paths }, { ...made.plan, id: 'p-00000001' } as CommandPlan);
    const path = paths.plan(made.plan.id);
    const bytes = readFileSync(path);
    const random = randomOf(Number(process.env.SEED ?? 5));
    const flip = (text: string) => {
      const at = Math.floor(random() * text.length);
      const code = 33 + Math.floor(random() * 90);
      const other = code === text.charCodeAt(at) ? code + 1 : code;
      return `${text.slice(0, at)}${String.fromCharCode(other)}${text.slice(at + 1)}`;
    };
    const decoded = (armour: string) => Buffer.from(armour.replace(/-----.*-----/g, ''), 'base64');
    const good = armouredBy(keys.ann, Buffer.from(made.text), NAMESPACE);
    const signed = (signature: string) => async () => {
      const who = signedApproval({ paths }, made.plan.id, signature);
      await approve({ io, paths, id: made.plan.id, ...who, applies: true, reporter: silent });
    };
    const by =
      (user: string, ahead = 0, env = {}) =>
      () =>
        approve({
          io: { ...ioOf(ahead), env: { ...io.env, ...env } },
          paths,
          id: made.plan.id,
          by: user,
          how: 'user',
          applies: true,
          reporter: silent,
        });
    const cases: readonly (() => () => Promise<unknown>)[] = [
      () => {
        const text = flip(good);
        // White space in the armour, or its last unused bits, may differ.
        return decoded(text).equals(decoded(good)) ? by('eve') : signed(text);
      },
      () => signed(armouredBy(keys.ann, Buffer.from(flip(made.text)), NAMESPACE)),
      () => signed(armouredBy(keys.ann, Buffer.from(other.text), NAMESPACE)),
      () => signed(armouredBy(keys.ann, Buffer.from(made.text), 'git')),
      () => signed(armouredBy(keys.bob, Buffer.from(made.text), NAMESPACE)),
      () => signed(armouredBy(keys.eve, Buffer.from(made.text), NAMESPACE)),
      () => signed(armouredBy(keys.old, Buffer.from(made.text), NAMESPACE)),
      () => signed(armouredBy(signingKey(), Buffer.from(made.text), NAMESPACE)),
      () => signed(good.slice(0, Math.floor(random() * good.length))),
      () => by(['eve', 'root', '', 'ANN', 'ann ', 'an'][Math.floor(random() * 6)] as string),
      () => by('cyd'),
      () => by('ann', 25 * HOUR),
      () => by('ann', -HOUR),
      () => by('bob', 0, { RUNNER_GRANT: 'helper' }),
      () => async () => {
        const text = bytes.toString('utf8');
        const changed = [
          text.slice(0, Math.floor(random() * text.length)),
          flip(text),
          text.replace('"approvals":', '"approval":'),
        ];
        const torn = changed[Math.floor(random() * changed.length)] as string;
        if (torn.trimEnd() === text.trimEnd()) throw new Failure('plan_invalid', 'the same');
        writeFileSync(path, torn);
        try {
          assert.equal(
            listPlans(paths, 'shop').map(({ plan }) => plan.id),
            ['p-00000001'],
          );
          readPlan(paths, made.plan.id);
        } finally {
          writeFileSync(path, bytes);
        }
      },
    ];
    const codes: Record<string, number> = {};
    for (let n = 0; n < COUNT; n += 1) {
      const attempt = cases[n % cases.length]?.() as () => Promise<unknown>;
      let code = 'none';
      try {
        await attempt();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        code = error.code;
      }
      assert.ok(
        /^(approval_refused|plan_ended|plan_invalid)$/.test(code),
        `${n % cases.length}: ${code}`,
      );
      codes[code] = (codes[code] ?? 0) + 1;
    }
    assert.equal(readPlan(paths, made.plan.id).approvals, []);
    assert.equal(readdirSync(paths.plansDir).length, 2);
    if (process.env.PLAN_LOG) appendFileSync(process.env.PLAN_LOG, `${JSON.stringify(codes)}\n`);
    // The same plan takes two good ones.
    await signed(good)();
    await by('bob')().catch(() => {});
    assert.is(readPlan(paths, made.plan.id).approvals.length, 2);
  }));

test.run();
