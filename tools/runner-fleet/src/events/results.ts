/** Verifies the signatures and the chain of a server's results in the broker. */
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import type { FleetServer } from '@runner/fleet/files/operator';
import { resultOf } from '@runner/fleet/order/result';
import { digestOf, signedText } from '@runner/fleet/order/seal';

export interface CheckedResults {
  readonly results: number;
  readonly problems: readonly string[];
}

export async function checkResults(broker: Broker, of: FleetServer): Promise<CheckedResults> {
  const { server } = of;
  const problems: string[] = [];
  const carriedOut = new Map<number, { body: string; prev: string | null }>();
  let results = 0;
  for await (const { seq, text } of broker.all('RESULTS', subjects.result(server, '*'))) {
    results += 1;
    const body = signedText('result', text, of) ?? '';
    const result = resultOf(body);
    if (!result) problems.push(`result ${seq} is not signed by ${server}`);
    // Refused orders have no number.
    else if (result.n !== null) {
      const known = carriedOut.get(result.n);
      if (known && known.body !== body)
        problems.push(`${server} has two results with the number ${result.n}`);
      carriedOut.set(result.n, { body, prev: result.prev });
    }
  }
  // Results of agent exec are not in the broker, so numbers may be missing: compare neighbours only.
  for (const [n, { prev }] of carriedOut) {
    const before = carriedOut.get(n - 1);
    if (before && digestOf(before.body) !== prev)
      problems.push(`result number ${n} of ${server} does not follow the one before it`);
  }
  return { results, problems };
}
