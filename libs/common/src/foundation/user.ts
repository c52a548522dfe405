/** Who runs a command. */
import { orElse } from './attempt.ts';
import type { Io } from './io.ts';

/** Name of the effective user; the uid if it has none. */
export function loginName({ uid }: Pick<Io, 'uid'>): string {
  return orElse(() => process.getBuiltinModule('node:os').userInfo().username, String(uid));
}

/** Who began a deploy: the operator whose order it is, `timer` for a fetch by systemd, `watch` for a way back, else the user, before sudo. */
export function initiatorOf(io: Pick<Io, 'env' | 'uid' | 'stderr'>, trigger: string): string {
  const { RUNNER_INITIATOR: operator, SUDO_USER: sudoUser, INVOCATION_ID: unit } = io.env;
  if (operator || sudoUser) return (operator || sudoUser) as string;
  if (trigger === 'watch') return 'watch';
  // A terminal that systemd started has the variable too.
  return trigger === 'fetch' && unit && !io.stderr.isTTY ? 'timer' : loginName(io);
}

/** The id of the order that a fleet's agent carries out by this process. */
export function orderIn({ RUNNER_ORDER: order = '' }: Io['env']): string | undefined {
  return /^r-[0-9a-f]{8}$/.test(order) ? order : undefined;
}
