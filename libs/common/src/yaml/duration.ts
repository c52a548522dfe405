/** The key of a length of time. */
import type { Schema } from './schema.ts';

const DURATION = '^(?!0+(?:ms|s|m|h)?$)[0-9]{1,9}(?:ms|s|m|h)?$';

/** A length of time. */
export const duration = (description: string): Schema => ({
  type: ['string', 'integer'],
  pattern: DURATION,
  refused: [
    ['^0+(?:ms|s|m|h)?$', 'must be longer than 0'],
    ['^[0-9]{10,}(?:ms|s|m|h)?$', 'is too long: the maximum is 24 days'],
  ],
  wanted: 'a time like 500ms, 30s, 5m or 1h',
  numbers: [1, 999_999_999],
  description,
});
