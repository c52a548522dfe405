/** A rollout as it is recorded, in the broker and in a local file. */
import { OPERATOR_NAME } from '@runner/fleet/files/names';
import {
  appField,
  type FieldReader,
  list,
  matching,
  object,
  oneOf,
  optional,
  orderIdField,
  parsedValue,
  timeField,
  whole,
} from '@runner/fleet/order/fields';
import {
  orderOf,
  type SealedOrder,
  sealedOrderField,
  serverField,
} from '@runner/fleet/order/order';

/** The recorded JSON. */
export interface Rollout {
  readonly rollout: string;
  readonly app: string;
  readonly by: string;
  readonly order: SealedOrder;
  readonly batches: readonly (readonly string[])[];
  readonly max_failures: number;
  readonly state: 'running' | 'done' | 'stopped' | 'incomplete' | 'interrupted' | 'cancelled';
  readonly began: string;
  /** Servers that were sent the order. */
  readonly ordered?: readonly string[] | undefined;
}

const serversField = list(serverField, 10_000);

const rolloutField: FieldReader<Rollout> = object<Rollout>({
  rollout: orderIdField,
  app: appField,
  by: matching(OPERATOR_NAME, 'the name of an operator'),
  order: sealedOrderField,
  batches: list(serversField, 10_000),
  max_failures: whole(0),
  state: oneOf('running', 'done', 'stopped', 'incomplete', 'interrupted', 'cancelled'),
  began: timeField,
  ordered: optional(serversField),
});

/** The record of a rollout; undefined unless every field is valid and its order is of this rollout. */
export function rolloutOf(text: string | undefined): Rollout | undefined {
  const rollout = parsedValue(text ?? '', rolloutField);
  const order = orderOf(rollout?.order.body ?? '');
  const isOwn = order?.id === rollout?.rollout && order?.app === rollout?.app;
  return order && isOwn ? rollout : undefined;
}
