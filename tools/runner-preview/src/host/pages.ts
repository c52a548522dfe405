/** Lists of a code host, whole or not at all: what is missing in half of one would be removed. */
import { Failure } from '@runner/common/foundation/failure';
import { type HostApi, isDenied, refuseOthers } from '@runner/common/hosts/api';
import type { HttpAnswer } from '@runner/common/http/request';
import { isObject, type JsonObject, parseJson } from '@runner/common/text/json';
import { nextPage } from '@runner/deploy/checks/ask';

/** Pages of one list. */
export const PAGES_MAX = 30;
/** Bytes of one page: a pull request has its whole text. */
export const PAGE_LIMIT = 33_554_432;

/** Reads all pages; `date`: the time of the host when it began to answer. Throws `code_host_error`, `token_invalid`, `rate_limited`, `network_error`. */
export async function listAll(api: HostApi, path: string) {
  const entries: JsonObject[] = [];
  let date: string | undefined;
  let next: string | undefined = path;
  for (let page = 1; next !== undefined; page += 1) {
    if (page > PAGES_MAX) throw bad(path, `has more than ${PAGES_MAX} pages`);
    const answer: HttpAnswer = await api.get(next);
    const body = bodyOf(api, answer, path);
    const list = isObject(body) ? body.values : body;
    if (!Array.isArray(list) || !list.every(isObject)) throw bad(path, 'is not a list');
    entries.push(...list);
    date ??= isoOf(answer.headers.date);
    next = nextPage(path, page, body, answer.headers);
    const total = answer.headers['x-total-count'] ?? answer.headers['x-total'];
    if (next === undefined && total !== undefined && Number(total) > entries.length)
      throw bad(path, `ends after ${entries.length} of ${total} entries`);
  }
  return { entries, date };
}

/** The body of a good answer. Throws as `listAll`. */
export function bodyOf(api: HostApi, answer: HttpAnswer, path: string): unknown {
  refuseOthers(api, answer);
  if (isDenied(answer))
    throw new Failure(
      'token_invalid',
      `the token may not read ${placeOf(path)}: ${api.said(answer)}`,
    );
  try {
    return parseJson(answer.body);
  } catch {
    throw bad(path, 'is not JSON');
  }
}

const placeOf = (path: string) => path.split('?')[0] ?? '';

/** An answer that is not what it should be. */
export function bad(path: string, why: string): Failure {
  return new Failure('code_host_error', `${placeOf(path)} of the code host ${why}`);
}

function isoOf(date: string | undefined): string | undefined {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
