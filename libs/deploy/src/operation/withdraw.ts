/** Withdrawing what a deploy that died at its canary left: its share of the requests. */
import { type OperationRequest, operate } from './operate.ts';

/** Undoes what a killed operation of an app left, and nothing else. Throws `locked`. */
export async function withdraw(request: Omit<OperationRequest, 'trigger' | 'notify'>) {
  const own = { ...request, trigger: 'manual', notify: true };
  await operate(own, 'cancel', {}, async () => {});
}
