/** Posts a message as a new message, as a reply, or as an edit of an earlier one. */
import type { Channel, Message, Outcome } from '../service/contract.ts';
import type { Destination, Posted } from './destination.ts';

/** Of a message that was sent before, or has nothing to edit. */
export const DELIVERED: Outcome = { class: 'delivered', rest: 0 };

/** Whether the message may only edit another one, and there is none. */
export function hasNothingToEdit(
  channel: Channel,
  destination: Destination,
  { step }: Message,
): boolean {
  if (!step?.onlyEdit) return false;
  return !channel.edit || destination.messageId(...(step.edits ?? [])) === undefined;
}

/** Makes a second request if the message to edit no longer exists. */
export async function post(
  channel: Channel,
  destination: Destination,
  message: Message,
  within: number | undefined,
): Promise<Posted> {
  const { step } = message;
  const known = destination.messageId(...(step?.edits ?? []));
  if (known !== undefined && channel.edit) {
    const outcome = await channel.edit(known, message, within);
    const isMissing =
      outcome.class === 'rejected' && (outcome.missing || outcome.movedTo !== undefined);
    if (!isMissing) return { outcome, id: known };
    if (step?.onlyEdit) return { outcome: DELIVERED };
  }
  const outcome = await channel.send(message, within, destination.messageId(step?.repliesTo));
  const body = outcome.class === 'delivered' ? outcome.accepted?.body : undefined;
  return { outcome, id: body && channel.idOf?.(body) };
}
