/** A rollout as it is recorded, in the broker and in a local file. */
import { OPERATOR_NAME } from '@runner/fleet/files/names';
import * as f from '@runner/fleet/order/fields';
import { orderOf, sealedOrderField, serverField } from '@runner/fleet/order/order';

const serversField = f.list(serverField, 10_000);

/** The recorded JSON. */
const rolloutField = f.object({
  rollout: f.orderIdField,
  app: f.appField,
  by: f.matching(OPERATOR_NAME, 'the name of an operator'),
  order: sealedOrderField,
  batches: f.list(serversField, 10_000),
  max_failures: f.whole(0),
  state: f.oneOf('running', 'done', 'stopped', 'incomplete', 'interrupted', 'cancelled'),
  began: f.timeField,
  /** Servers that were sent the order. */
  ordered: f.optional(serversField),
});
export type Rollout = f.ValueOf<typeof rolloutField>;

/** The record of a rollout; undefined unless every field is valid and its order is of this rollout. */
export function rolloutOf(text: string | undefined): Rollout | undefined {
  const rollout = f.parsedValue(text ?? '', rolloutField);
  const order = orderOf(rollout?.order.body ?? '');
  const isOwn = order?.id === rollout?.rollout && order?.app === rollout?.app;
  return order && isOwn ? rollout : undefined;
}
