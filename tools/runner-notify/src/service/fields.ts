/** JSON of which nothing is known for sure. */

import { isObject, type JsonObject } from '@runner/common/text/json';

export type Fields = JsonObject;

/** An object of an answer; empty when it is not an object. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** A text of an answer; a number as its digits, else empty. */
export function wordOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
