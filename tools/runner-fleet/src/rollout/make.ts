/** Creates and signs orders. */
import type { Context } from '@runner/common/cli/command';
import { Failure, invalidValue, usage } from '@runner/common/foundation/failure';
import { appName } from '@runner/common/foundation/names';
import { loginName } from '@runner/common/foundation/user';
import { durationOf } from '@runner/common/text/time';
import { OPERATOR_NAME } from '@runner/fleet/files/names';
import { readFleet } from '@runner/fleet/files/operator';
import {
  DEADLINE_MAX,
  type Order,
  orderOf,
  REASON_MAX,
  type SealedOrder,
} from '@runner/fleet/order/order';
import { sign } from '@runner/fleet/order/sshsig';

/** Throws `name_invalid`, `usage`. */
export function checkWords(app: string, reason: string): void {
  appName(app);
  if (reason.length > REASON_MAX)
    throw usage(
      `invalid value for '--reason <TEXT>': it must have at most ${REASON_MAX} characters`,
    );
}

/** A new, valid order. Throws `name_invalid`, `usage`. */
export function newOrder(
  { io }: Pick<Context, 'io'>,
  wanted: Omit<Order, 'id' | 'issued' | 'deadline'>,
  deadline: number,
): Order {
  const id = `r-${Math.floor(io.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')}`;
  const now = io.now().getTime();
  const issued = new Date(now).toISOString();
  const order = { id, ...wanted, issued, deadline: new Date(now + deadline).toISOString() };
  checkWords(wanted.app, wanted.reason);
  if (orderOf(JSON.stringify(order))) return order;
  if (wanted.verb === 'deploy')
    throw usage(`invalid value '${wanted.ref}' for '--ref <REF>': a deploy needs the full commit`);
  const isOf = orderOf(JSON.stringify({ ...order, accept_schema: undefined }));
  if (wanted.verb !== 'approve')
    throw usage(`'${isOf ? wanted.accept_schema : wanted.ref}' is not a version`);
  const what = wanted.ref === '' ? 'an approval needs' : `'${wanted.ref}' is not`;
  throw usage(`${what} the id of a plan, such as p-1a2b3c4d`);
}

/** Throws `usage`. */
export function deadlineOf(text: string | undefined, otherwise: number): number {
  const time =
    text === undefined
      ? otherwise
      : durationOf(text.replace(/^(\d+)d$/, (_, days: string) => `${Number(days) * 24}h`));
  if (time !== undefined && time > 0 && time <= DEADLINE_MAX) return time;
  throw invalidValue(text, '--deadline <TIME>', 'it must be a time such as 15m or 24h, at most 7d');
}

/** Throws `usage`. */
export function countOf(
  text: string | undefined,
  otherwise: number,
  option: string,
  least = 0,
): number {
  const count = text === undefined ? otherwise : Number(text);
  if (Number.isSafeInteger(count) && count >= least && count <= 1_000) return count;
  throw invalidValue(text, `--${option} <N>`, `it must be a whole number from ${least} to 1000`);
}

/** How long to wait for results after the deadline, in ms: an order may start just before it. */
const GRACE = 60_000;

/** Throws `usage`. */
export function waitOf(text: string | undefined, deadline: number): number {
  const wait = text === undefined ? deadline + GRACE : durationOf(text);
  if (wait !== undefined) return wait;
  throw invalidValue(text, '--wait <TIME>', 'it must be a time such as 30s, 10m');
}

/** Signs with `--key`, or else the key in fleet.yml. Throws `signing_failed`. */
export async function signOrder(
  { io, paths }: Pick<Context, 'io' | 'paths'>,
  body: string,
  keyOption: string | undefined,
): Promise<SealedOrder> {
  const config = await readFleet(paths.root);
  const by = config.by ?? loginName(io);
  const key = keyOption ?? config.key;
  if (key === undefined)
    throw new Failure(
      'signing_failed',
      'no key to sign the order: use --key, or set key in fleet.yml',
    );
  if (!OPERATOR_NAME.test(by))
    throw new Failure(
      'config_invalid',
      `'${by.slice(0, 80)}' cannot be a name in allowed_signers: set by in fleet.yml`,
    );
  return sign(body, by, key);
}
