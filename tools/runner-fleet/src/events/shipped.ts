/** Reads the output of `runner agent ship` instead of the broker. */
import { subjects } from '@runner/fleet/broker/subjects';
import { sealedTextOf } from '@runner/fleet/order/seal';
import type { EventSource } from './read.ts';

/** `report` gets a sentence for each line that is not a message. */
export function shippedEvents(text: string, report: (problem: string) => void): EventSource {
  const at = new Date(0);
  const lines = text.split('\n').filter(Boolean);
  const stored = lines.flatMap((line, index) => {
    const server = sealedTextOf(line)?.server;
    if (server !== undefined)
      return [{ seq: index + 1, text: line, subject: subjects.events(server), at }];
    report(`line ${index + 1} is not output of runner agent ship`);
    return [];
  });
  return {
    async *all(_stream, subject, from = 1) {
      yield* stored.filter((each) => each.seq >= from && each.subject === subject);
    },
  };
}
