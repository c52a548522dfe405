/** Reads the output of `runner agent ship` instead of the broker. */
import { Failure } from '@runner/common/foundation/failure';
import { subjects } from '@runner/fleet/broker/subjects';
import { sealedTextOf } from '@runner/fleet/order/seal';
import type { EventSource } from './read.ts';

/** Throws `signature_invalid`. */
export function shippedEvents(text: string): EventSource {
  const at = new Date(0);
  const lines = text.split('\n').filter(Boolean);
  const stored = lines.map((line, index) => {
    const server = sealedTextOf(line)?.server;
    if (server !== undefined)
      return { seq: index + 1, text: line, subject: subjects.events(server), at };
    throw new Failure('signature_invalid', `line ${index + 1} is not output of runner agent ship`);
  });
  return {
    async *all(_stream, subject, from = 1) {
      yield* stored.filter((each) => each.seq >= from && each.subject === subject);
    },
  };
}
