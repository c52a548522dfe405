/** Verifies the signatures and the chain of a server's results in the broker. */
import type { Broker } from '@runner/fleet/broker/nats';
import { subjects } from '@runner/fleet/broker/subjects';
import { ServerKeys } from '@runner/fleet/events/keys';
import type { FleetServer } from '@runner/fleet/files/operator';
import { readSigned } from '@runner/fleet/order/received';
import { resultField } from '@runner/fleet/order/result';
import { digestOf } from '@runner/fleet/order/seal';

export async function checkResults(broker: Broker, of: FleetServer) {
  const { server } = of;
  const keys = new ServerKeys(of);
  const problems: string[] = [];
  let carriedOut: CarriedOut = new Map();
  let results = 0;
  for await (const { seq, text } of broker.all('RESULTS', subjects.result(server, '*'))) {
    results += 1;
    const { replaced } = keys;
    const received = readSigned('result', server, keys.next('result', text), resultField);
    if (keys.replaced > replaced) {
      problems.push(...chainProblems(server, carriedOut));
      carriedOut = new Map();
    }
    if ('problem' in received) {
      const why = received.isSigned ? `: ${received.problem}` : ` is not signed by ${server}`;
      problems.push(`result ${seq}${why}`);
      continue;
    }
    const { body, value: result } = received;
    // Refused orders have no number.
    if (result.n !== null) {
      const known = carriedOut.get(result.n);
      if (known && known.body !== body)
        problems.push(`${server} has two results with the number ${result.n}`);
      carriedOut.set(result.n, { body, prev: result.prev });
    }
  }
  return { results, problems: [...problems, ...chainProblems(server, carriedOut)] };
}

/** Results by number. */
type CarriedOut = Map<number, { readonly body: string; readonly prev: string | null }>;

/** Results of agent exec are not in the broker, so numbers may be missing: only neighbours are compared. */
function chainProblems(server: string, carriedOut: CarriedOut): string[] {
  return [...carriedOut].flatMap(([n, { prev }]) => {
    const before = carriedOut.get(n - 1);
    return before && digestOf(before.body) !== prev
      ? [`result number ${n} of ${server} does not follow the one before it`]
      : [];
  });
}
