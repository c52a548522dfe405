/** Names in the registries of supervisors, which all apps of a server share. */
import { createHash } from 'node:crypto';
import type { Target } from './driver.ts';

/** `runner-shop-default-1a2b`: unique per root, app, instance and slot. */
export function ownName({
  app,
  instance,
  slot,
  paths,
}: Pick<Target, 'app' | 'instance' | 'slot' | 'paths'>): string {
  const mark = createHash('sha256').update(paths.dir).digest('hex').slice(0, 4);
  return ['runner', app, instance.name, slot, mark].filter(Boolean).join('-');
}
