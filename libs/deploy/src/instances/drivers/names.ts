/** Names in the registries of supervisors, which all apps of a server share. */
import type { Target } from './driver.ts';

/** `runner-shop-default-1a2b`: unique per root, app, instance and slot. */
export function ownName({
  app,
  instance,
  slot,
  paths,
}: Pick<Target, 'app' | 'instance' | 'slot' | 'paths'>): string {
  const { hash } = process.getBuiltinModule('node:crypto');
  const mark = hash('sha256', paths.dir, 'hex').slice(0, 4);
  return ['runner', app, instance.name, slot, mark].filter(Boolean).join('-');
}
