/** Replaces a secret. */
export const REDACTED = '[REDACTED]';
