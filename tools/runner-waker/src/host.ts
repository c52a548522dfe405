/** The host of a request, and the answers that the waker gives itself. */

/** Bytes until the end of the head: what proxies send is below it. */
const HEAD_MAX = 16_384;

/** The host in the head of a request, lower case and without port; undefined: more is needed; null: not to be read. */
export function hostIn(bytes: Buffer): string | null | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end > HEAD_MAX || (end === -1 && bytes.length > HEAD_MAX)) return null;
  if (end === -1) return undefined;
  const [first = '', ...fields] = bytes.toString('latin1', 0, end).split('\r\n');
  const hosts = fields.flatMap((field) => /^host:\s*(.*?)(?::\d+)?\s*$/i.exec(field)?.[1] ?? []);
  const isOne = /^\S+ \S+ HTTP\/1\.[01]$/.test(first) && hosts.length === 1;
  return isOne ? (hosts[0] as string).toLowerCase() : null;
}

const REASONS = {
  400: 'Bad Request',
  404: 'Not Found',
  408: 'Request Timeout',
  503: 'Service Unavailable',
} as const;

/** An answer that ends the connection; `again`: seconds after which to try again. */
export function answerOf(status: keyof typeof REASONS, sentence: string, again?: number): string {
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(sentence) + 1}`,
    'Cache-Control: no-store',
    'Connection: close',
    ...(again === undefined ? [] : [`Retry-After: ${again}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${sentence}\n`;
}
