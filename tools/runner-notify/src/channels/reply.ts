/** Asking a chat service something, for its answer's sake: what `setup`, `test` and `status` do. */
import type { HttpAnswer } from '@runner/common/http/request';
import { jsonObject, type Outcome, type Problem } from './channel.ts';
import { exchange, type Line, type Request } from './exchange.ts';
import type { Fields } from './fields.ts';

/** What the service answered, or why it did not. */
export type Reply<T> =
  | { readonly value: T; readonly httpStatus: number }
  | { readonly problem: Problem; readonly answer: HttpAnswer | undefined };

/** A line whose method is named by each question; `signal` ends whatever is asked on it. */
export type Wire = Omit<Line, 'method'> & { readonly signal?: AbortSignal };

/** Makes one exchange; `read` takes apart the body of an answer that `judge` takes. */
export async function question<T>(
  line: Wire & Line,
  url: string,
  request: Request,
  judge: (line: Line, answer: HttpAnswer) => Outcome,
  read: (body: Fields) => T,
): Promise<Reply<T>> {
  let answer: HttpAnswer | undefined;
  const signals = [line.signal, request.signal].filter((each) => each !== undefined);
  const signal = AbortSignal.any(signals);
  const outcome = await exchange(line, url, { ...request, signal }, (received) => {
    answer = received;
    return judge(line, received);
  });
  if (outcome.class !== 'delivered') return { problem: outcome.problem, answer };
  const received = answer as unknown as HttpAnswer;
  return { value: read(jsonObject(received) ?? {}), httpStatus: received.status };
}
