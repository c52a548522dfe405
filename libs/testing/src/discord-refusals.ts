import type { FaultResponse } from './faults.ts';

const CLOUDFLARE = `<!DOCTYPE html>
<html lang="en-US">
<head><title>Access denied | discord.com used Cloudflare to restrict access</title></head>
<body><h1>Error 1015</h1><h2>You are being rate limited</h2></body>
</html>
`;

/** An error in the shape that all errors of the platform have. */
export const problem = (status: number, code: number, message: string): FaultResponse => ({
  status,
  body: { message, code },
});

/** Refusals as the platform words them, to be given to fail(). */
export const refusals = {
  empty: problem(400, 50006, 'Cannot send an empty message'),
  invalidToken: problem(401, 50027, 'Invalid Webhook Token'),
  unknownWebhook: problem(404, 10015, 'Unknown Webhook'),
  unknownMessage: problem(404, 10008, 'Unknown Message'),
  unknownChannel: problem(404, 10003, 'Unknown Channel'),
  internal: problem(500, 0, '500: Internal Server Error'),
  /** 429 of the platform itself; `seconds` has a fraction. */
  rateLimited: (seconds: number, scope: 'user' | 'shared' | 'global' = 'user'): FaultResponse => ({
    status: 429,
    body: {
      message: 'You are being rate limited.',
      retry_after: seconds,
      global: scope === 'global',
    },
    headers: { 'Retry-After': String(Math.ceil(seconds)), 'X-RateLimit-Scope': scope },
  }),
  /** 429 of the proxy in front of the platform: a page and no JSON. */
  cloudflareRateLimited: {
    status: 429,
    body: CLOUDFLARE,
    headers: { 'Content-Type': 'text/html; charset=UTF-8', 'Retry-After': '120' },
  },
  cloudflareForbidden: {
    status: 403,
    body: CLOUDFLARE,
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
  },
} as const;
