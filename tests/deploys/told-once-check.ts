/** What the timer must announce and print, however many minutes pass. */
import * as assert from 'uvu/assert';
import { tellOnce } from './told-once.ts';

export async function isToldOnce(minutes: number): Promise<void> {
  const { titles, kinds, lines, failure, verified } = await tellOnce(minutes);
  // The rollback starts the app again by hand.
  const announced = titles.filter((title) => title !== 'Started again');
  assert.equal(announced, [
    'App down',
    'App up again',
    'Deploy failed',
    'Checks work again',
    'Token ending',
    'Token renewed',
    'Deploy started',
    'Deploy failed',
  ]);
  assert.equal(
    kinds.filter((kind) => kind !== 'RollbackSuccess'),
    [
      'AppDown',
      'AppUp',
      'DeployFailure',
      'CheckRecovered',
      'TokenEnding',
      'TokenRenewed',
      'DeployStarted',
      'DeployFailure',
    ],
  );
  assert.equal(lines, [
    'shop: up to date, but down: not restarted automatically; run: runner start shop',
    "shop: the repository acme/shop has no branch 'nope'",
    'shop: deploy of v2 failed at build, v1 is active',
    'shop: deploy blocked, same commit failed 1 time',
  ]);
  assert.equal([failure?.blocked, verified], [true, 0]);
}
