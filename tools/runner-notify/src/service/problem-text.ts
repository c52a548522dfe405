/** A problem in words for people. */
import { harmlessLine } from '@runner/common/text/harmless';
import type { ServiceProblem } from './contract.ts';

/** `Bad Request: chat not found (sendMessage, 400)`; the hint is printed separately. */
export function problemText({ description, method, code }: Partial<ServiceProblem>): string {
  const where = [method, description?.includes(String(code)) ? undefined : code];
  const source = where.filter((each) => each !== undefined).join(', ');
  return harmlessLine(`${description ?? ''}${source && ` (${source})`}`);
}
