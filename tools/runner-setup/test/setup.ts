import * as assert from 'uvu/assert';
import { makeStand, type Stand } from './stand.ts';

export const RUN = ['--run', 'node server.js'];

export const SITE = 'etc/nginx/conf.d/runner-shop.conf';

export const UNIT = 'etc/systemd/system/shop@.service';

export async function madeStand(...args: string[]): Promise<Stand> {
  const stand = makeStand();
  const { status, stderr } = await stand.setup(...RUN, '--yes', ...args);
  assert.is(status, 0, stderr);
  return stand;
}
