/** One request for a message: posted as a new message, as a reply, or as an edit of one that was posted. */
import type { Channel, Message, Outcome } from '../service/contract.ts';
import type { Destination, Posted } from './destination.ts';

const DONE: Outcome = { class: 'delivered', rest: 0 };

/** Whether a message has nothing to edit, and is not sent otherwise. */
export function isNeedless(channel: Channel, destination: Destination, { step }: Message): boolean {
  if (!step?.onlyEdit) return false;
  return !channel.edit || destination.messageId(...(step.edits ?? [])) === undefined;
}

/** Makes the request, and a second one when the message to edit is not there any more. */
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
    if (step?.onlyEdit) return { outcome: DONE };
  }
  const outcome = await channel.send(message, within, destination.messageId(step?.repliesTo));
  const body = outcome.class === 'delivered' ? outcome.accepted?.body : undefined;
  return { outcome, id: body && channel.idOf?.(body) };
}
