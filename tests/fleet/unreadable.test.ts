/** A server with an app whose state cannot be read. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasBroker, whenBroker } from '@runner/testing/broker';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeStage, type Stage } from './stage.ts';

const test = suite<Stage>('unreadable');
const withBroker = whenBroker(test);

test.before(async (stage) => {
  if (hasBroker()) Object.assign(stage, await makeStage(['web1']));
});
test.after(({ close }) => close?.());

withBroker(
  'an app that cannot be read there is shown as such, and fleet fetch does not pass over it in silence',
  async ({ roots, operator, startAgent }) => {
    const folder = join(roots.web1 as string, 'state');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'shop.json'), 'torn', { mode: 0o600 });
    await startAgent('web1');
    const shown = await operator.fleet(['status']);
    assert.match(shown.stdout, /up \d+ ms {2}shop - unreadable\n/);
    const { status, stderr } = await operator.fleet(['fetch', '--deploy']);
    assert.is(status, 1);
    assert.match(stderr, 'web1: the state file ');
    assert.match(stderr, 'shop.json is not JSON');
  },
);

test.run();
